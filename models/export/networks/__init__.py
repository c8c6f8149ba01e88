"""Networks that torchvision does not have, as plain torch.nn modules after their published descriptions."""
