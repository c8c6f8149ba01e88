"""PyTorch modules become models without a file of weights."""

import os
import sys

import pytest
import torch

import archsim


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 16, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(16)
        self.fc = torch.nn.Linear(16, 10)
        for tensor in (self.norm.weight, self.norm.bias):  # values of their own: equal tensors are exported once
            torch.nn.init.normal_(tensor)

    def forward(self, x):
        return self.fc(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


@pytest.fixture(scope="module")
def session():
    return archsim.Session()


def test_a_module_is_counted_and_estimated(session):
    module = Small().train()
    model = archsim.from_torch(module, torch.zeros(1, 3, 32, 32), session=session)
    assert module.training  # as it was
    facts = session.facts(model)
    assert facts.complete and facts.parameters == sum(p.numel() for p in module.parameters())
    assert facts.macs == 32 * 32 * 16 * 3 * 9 + 16 * 10
    assert session.facts(model, batch=8).macs == 8 * facts.macs  # the batch stays open
    one, eight = (session.estimate(model, "H100", batch=b, precision="fp16") for b in (1, 8))
    assert one.ok and eight.ok and one.model == "Small"
    assert one.latency_s <= eight.latency_s < 8 * one.latency_s
    runner = archsim.ComparisonRunner(model, ["cuda", "cpu"], [1], precision="fp16", session=session).run()
    assert all(result.ok for _, result in runner.results)


def test_nothing_stays_behind(session, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    before = set(os.listdir("/proc/self/fd"))
    archsim.from_torch(torch.nn.Linear(64, 64), torch.zeros(1, 64), session=session)
    assert not list(tmp_path.iterdir()) and set(os.listdir("/proc/self/fd")) == before


def test_several_inputs_and_mistakes(session):
    class Product(torch.nn.Module):
        def forward(self, a, b):
            return a @ b

    model = archsim.from_torch(Product(), [torch.zeros(1, 8, 16), torch.zeros(1, 16, 4)], session=session, name="product")
    assert session.facts(model, batch=2).macs == 2 * 8 * 16 * 4
    with pytest.raises(archsim.UsageError, match="example_inputs"):
        archsim.from_torch(Product(), ["text"], session=session)
    with pytest.raises(archsim.UsageError, match="name"):
        archsim.from_torch(Product(), torch.zeros(1), session=session, name="../x")


def test_without_torch_the_package_works_and_says_what_is_missing(session, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert session.estimate("resnet18", "H100").latency_s > 0
    with pytest.raises(ModuleNotFoundError, match="pip install torch"):
        archsim.from_torch(object(), [], session=session)
