"""The table of torchvision's networks: constructor, title, default size."""
import re

import torch
import torchvision
from torch import nn

from entry import Entry
from networks import mvit

CLASSIFICATION = "image-classification"
# torchvision freezes the first layers and the normalisation of a detector's backbone.
FROZEN_NORM = ("backbone*bn*.weight", "backbone*bn*.bias", "backbone*downsample.1.weight", "backbone*downsample.1.bias")

# name: (title, family, default size, how the size is symbolic)
CLASSIFIERS = {
    "alexnet": ("AlexNet", "alexnet", 224, "named"),
    "convnext_tiny": ("ConvNeXt-Tiny", "convnext", 224, "traced"),
    "convnext_small": ("ConvNeXt-Small", "convnext", 224, "traced"),
    "convnext_base": ("ConvNeXt-Base", "convnext", 224, "traced"),
    "convnext_large": ("ConvNeXt-Large", "convnext", 224, "traced"),
    "densenet121": ("DenseNet-121", "densenet", 224, "traced"),
    "densenet161": ("DenseNet-161", "densenet", 224, "traced"),
    "densenet169": ("DenseNet-169", "densenet", 224, "traced"),
    "densenet201": ("DenseNet-201", "densenet", 224, "traced"),
    "efficientnet_b0": ("EfficientNet-B0", "efficientnet", 224, "traced"),
    "efficientnet_b1": ("EfficientNet-B1", "efficientnet", 240, "traced"),
    "efficientnet_b2": ("EfficientNet-B2", "efficientnet", 288, "traced"),
    "efficientnet_b3": ("EfficientNet-B3", "efficientnet", 300, "traced"),
    "efficientnet_b4": ("EfficientNet-B4", "efficientnet", 380, "traced"),
    "efficientnet_b5": ("EfficientNet-B5", "efficientnet", 456, "traced"),
    "efficientnet_b6": ("EfficientNet-B6", "efficientnet", 528, "traced"),
    "efficientnet_b7": ("EfficientNet-B7", "efficientnet", 600, "traced"),
    "efficientnet_v2_s": ("EfficientNetV2-S", "efficientnet", 384, "traced"),
    "efficientnet_v2_m": ("EfficientNetV2-M", "efficientnet", 480, "traced"),
    "efficientnet_v2_l": ("EfficientNetV2-L", "efficientnet", 480, "traced"),
    "googlenet": ("GoogLeNet", "inception", 224, "traced"),
    "inception_v3": ("Inception-v3", "inception", 299, "traced"),
    "maxvit_t": ("MaxViT-T", "maxvit", 224, "fixed"),
    "mnasnet0_5": ("MNASNet 0.5", "mnasnet", 224, "traced"),
    "mnasnet0_75": ("MNASNet 0.75", "mnasnet", 224, "traced"),
    "mnasnet1_0": ("MNASNet 1.0", "mnasnet", 224, "traced"),
    "mnasnet1_3": ("MNASNet 1.3", "mnasnet", 224, "traced"),
    "mobilenet_v2": ("MobileNetV2", "mobilenet", 224, "traced"),
    "mobilenet_v3_large": ("MobileNetV3-Large", "mobilenet", 224, "traced"),
    "mobilenet_v3_small": ("MobileNetV3-Small", "mobilenet", 224, "traced"),
    "regnet_x_400mf": ("RegNetX-400MF", "regnet", 224, "traced"),
    "regnet_x_800mf": ("RegNetX-800MF", "regnet", 224, "traced"),
    "regnet_x_1_6gf": ("RegNetX-1.6GF", "regnet", 224, "traced"),
    "regnet_x_3_2gf": ("RegNetX-3.2GF", "regnet", 224, "traced"),
    "regnet_x_8gf": ("RegNetX-8GF", "regnet", 224, "traced"),
    "regnet_x_16gf": ("RegNetX-16GF", "regnet", 224, "traced"),
    "regnet_x_32gf": ("RegNetX-32GF", "regnet", 224, "traced"),
    "regnet_y_400mf": ("RegNetY-400MF", "regnet", 224, "traced"),
    "regnet_y_800mf": ("RegNetY-800MF", "regnet", 224, "traced"),
    "regnet_y_1_6gf": ("RegNetY-1.6GF", "regnet", 224, "traced"),
    "regnet_y_3_2gf": ("RegNetY-3.2GF", "regnet", 224, "traced"),
    "regnet_y_8gf": ("RegNetY-8GF", "regnet", 224, "traced"),
    "regnet_y_16gf": ("RegNetY-16GF", "regnet", 224, "traced"),
    "regnet_y_32gf": ("RegNetY-32GF", "regnet", 224, "traced"),
    "regnet_y_128gf": ("RegNetY-128GF", "regnet", 384, "traced"),
    "resnet18": ("ResNet-18", "resnet", 224, "traced"),
    "resnet34": ("ResNet-34", "resnet", 224, "traced"),
    "resnet50": ("ResNet-50", "resnet", 224, "traced"),
    "resnet101": ("ResNet-101", "resnet", 224, "traced"),
    "resnet152": ("ResNet-152", "resnet", 224, "traced"),
    "resnext50_32x4d": ("ResNeXt-50 32x4d", "resnet", 224, "traced"),
    "resnext101_32x8d": ("ResNeXt-101 32x8d", "resnet", 224, "traced"),
    "resnext101_64x4d": ("ResNeXt-101 64x4d", "resnet", 224, "traced"),
    "shufflenet_v2_x0_5": ("ShuffleNetV2 x0.5", "shufflenet", 224, "traced"),
    "shufflenet_v2_x1_0": ("ShuffleNetV2 x1.0", "shufflenet", 224, "traced"),
    "shufflenet_v2_x1_5": ("ShuffleNetV2 x1.5", "shufflenet", 224, "traced"),
    "shufflenet_v2_x2_0": ("ShuffleNetV2 x2.0", "shufflenet", 224, "traced"),
    "squeezenet1_0": ("SqueezeNet 1.0", "squeezenet", 224, "traced"),
    "squeezenet1_1": ("SqueezeNet 1.1", "squeezenet", 224, "traced"),
    "swin_t": ("Swin-T", "swin", 224, "fixed"),
    "swin_s": ("Swin-S", "swin", 224, "fixed"),
    "swin_b": ("Swin-B", "swin", 224, "fixed"),
    "swin_v2_t": ("SwinV2-T", "swin", 256, "fixed"),
    "swin_v2_s": ("SwinV2-S", "swin", 256, "fixed"),
    "swin_v2_b": ("SwinV2-B", "swin", 256, "fixed"),
    "vgg11": ("VGG-11", "vgg", 224, "named"),
    "vgg13": ("VGG-13", "vgg", 224, "named"),
    "vgg16": ("VGG-16", "vgg", 224, "named"),
    "vgg19": ("VGG-19", "vgg", 224, "named"),
    "vgg11_bn": ("VGG-11 with batch normalisation", "vgg", 224, "named"),
    "vgg13_bn": ("VGG-13 with batch normalisation", "vgg", 224, "named"),
    "vgg16_bn": ("VGG-16 with batch normalisation", "vgg", 224, "named"),
    "vgg19_bn": ("VGG-19 with batch normalisation", "vgg", 224, "named"),
    "vit_b_16": ("ViT-B/16", "vit", 224, "fixed"),
    "vit_b_32": ("ViT-B/32", "vit", 224, "fixed"),
    "vit_h_14": ("ViT-H/14", "vit", 224, "fixed"),
    "vit_l_16": ("ViT-L/16", "vit", 224, "fixed"),
    "vit_l_32": ("ViT-L/32", "vit", 224, "fixed"),
    "wide_resnet50_2": ("Wide ResNet-50-2", "resnet", 224, "traced"),
    "wide_resnet101_2": ("Wide ResNet-101-2", "resnet", 224, "traced"),
}

# Constructor arguments beside weights=None. The initial values do not matter here, and the Inception
# networks' are slow to draw.
ARGUMENTS = {
    "googlenet": {"init_weights": False, "aux_logits": False},
    "inception_v3": {"init_weights": False},
}
# What people type and what model zoos call them: Hugging Face, timm, Qualcomm AI Hub, Hailo, Open Model Zoo.
ALIASES = {
    "convnext_tiny": ["facebook/convnext-tiny-224"],
    "convnext_small": ["facebook/convnext-small-224"],
    "convnext_base": ["facebook/convnext-base-224"],
    "convnext_large": ["facebook/convnext-large-224"],
    "densenet121": ["densenet-121-tf"],
    "efficientnet_b0": ["google/efficientnet-b0", "efficientnet-b0-pytorch"],
    "efficientnet_b1": ["google/efficientnet-b1"],
    "efficientnet_b2": ["google/efficientnet-b2"],
    "efficientnet_b3": ["google/efficientnet-b3"],
    "efficientnet_b4": ["google/efficientnet-b4"],
    "efficientnet_b5": ["google/efficientnet-b5"],
    "efficientnet_b6": ["google/efficientnet-b6"],
    "efficientnet_b7": ["google/efficientnet-b7"],
    "inception_v3": ["inception"],
    "mc3_18": ["resnet_mixed"],
    "mnasnet0_5": ["mnasnet05"],
    "mobilenet_v2": ["google/mobilenet_v2_1.0_224", "mobilenet_v2_1.0", "mobilenet-v2-pytorch"],
    "mobilenet_v3_large": ["MobileNetV3", "timm/mobilenetv3_large_100.ra_in1k", "mobilenetv3_large_100"],
    "mobilenet_v3_small": ["timm/mobilenetv3_small_100.lamb_in1k", "mobilenetv3_small_100"],
    "r2plus1d_18": ["resnet_2plus1d", "r(2+1)d"],
    "r3d_18": ["resnet_3d"],
    "regnet_x_1_6gf": ["regnetx_1.6gf", "regnetx_016"],
    "regnet_x_3_2gf": ["regnet", "regnetx_032"],
    "regnet_x_800mf": ["regnetx_800mf", "regnetx_008"],
    "resnet18": ["microsoft/resnet-18", "resnet_v1_18", "resnet-18-pytorch"],
    "resnet34": ["microsoft/resnet-34", "resnet_v1_34", "resnet-34-pytorch"],
    "resnet50": ["microsoft/resnet-50", "resnet50_v1.5", "timm/resnet50.a1_in1k", "resnet-50-pytorch", "resnet"],
    "resnet101": ["microsoft/resnet-101"],
    "resnet152": ["microsoft/resnet-152"],
    "resnext50_32x4d": ["resnext50"],
    "resnext101_32x8d": ["resnext101"],
    "squeezenet1_1": ["squeezenet", "squeezenet_v1.1", "squeezenet1.1"],
    "swin_t": ["microsoft/swin-tiny-patch4-window7-224", "swin_tiny", "swin_tiny_patch4_window7_224"],
    "swin_s": ["microsoft/swin-small-patch4-window7-224", "swin_small", "swin_small_patch4_window7_224"],
    "swin_b": ["microsoft/swin-base-patch4-window7-224", "swin_base", "swin_base_patch4_window7_224"],
    "vit_b_16": ["vit_base_patch16_224", "ViT", "Vision Transformer", "deit_base", "facebook/deit-base-patch16-224",
                 "timm/vit_base_patch16_224.augreg_in21k_ft_in1k"],
    "vit_b_16_384": ["google/vit-base-patch16-384", "vit_base_patch16_384"],
    "vit_b_32": ["vit_base_patch32_224"],
    "vit_l_16": ["google/vit-large-patch16-224", "vit-large", "vit_large_patch16_224"],
    "wide_resnet50_2": ["wide-resnet-50", "wideresnet50"],
}
NOT_EXPORTED = {
    "inception_v3": {"pattern": "AuxLogits.*", "reason": "the auxiliary head runs in training only"},
}


# Their biases of positions follow from weights alone: computed when a network is built, and in the published MACs.
FOLDED_BIAS = ("swin_v2_t", "swin_v2_s", "swin_v2_b")


def classifier(name):
    return lambda: getattr(torchvision.models, name)(weights=None, **ARGUMENTS.get(name, {}))


# name: (title, family, whether an auxiliary head is a second output). The published figures count it.
SEGMENTERS = {
    "deeplabv3_mobilenet_v3_large": ("DeepLabV3 MobileNetV3-Large", "deeplab", True),
    "deeplabv3_resnet50": ("DeepLabV3 ResNet-50", "deeplab", True),
    "deeplabv3_resnet101": ("DeepLabV3 ResNet-101", "deeplab", True),
    "fcn_resnet50": ("FCN ResNet-50", "fcn", True),
    "fcn_resnet101": ("FCN ResNet-101", "fcn", True),
    "lraspp_mobilenet_v3_large": ("LR-ASPP MobileNetV3-Large", "lraspp", False),
}


def segmenter(name, auxiliary):
    arguments = {"aux_loss": True} if auxiliary else {}
    return lambda: getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, **arguments)


# name: (title, frames, side of a frame)
VIDEO = {
    "r3d_18": ("ResNet3D-18", 16, 112),
    "mc3_18": ("MC3-18", 16, 112),
    "r2plus1d_18": ("R(2+1)D-18", 16, 112),
    "s3d": ("S3D", 16, 224),
    "mvit_v1_b": ("MViTv1-B", 16, 224),
    "mvit_v2_s": ("MViTv2-S", 16, 224),
}


def video(name):
    if name.startswith("mvit"):
        return lambda: mvit.build(name)
    return lambda: getattr(torchvision.models.video, name)(weights=None)


# name: (title, family, side of the image)
DETECTORS = {
    "ssd300_vgg16": ("SSD300 VGG16", "ssd", 300),
    "ssdlite320_mobilenet_v3_large": ("SSDLite320 MobileNetV3-Large", "ssd", 320),
    "retinanet_resnet50_fpn": ("RetinaNet ResNet-50 FPN", "retinanet", 800),
    "retinanet_resnet50_fpn_v2": ("RetinaNet ResNet-50 FPN V2", "retinanet", 800),
    "fcos_resnet50_fpn": ("FCOS ResNet-50 FPN", "fcos", 800),
}


# Published with the normalisation of the backbone frozen: it counts no parameters.
FROZEN = ("retinanet_resnet50_fpn", "fcos_resnet50_fpn")


def freeze(body):
    for module in body.modules():
        if isinstance(module, nn.BatchNorm2d):
            for key in ("weight", "bias"):
                module.register_buffer(key, module._parameters.pop(key).data)


class RawDetector(nn.Module):
    """Backbone and heads of a one-stage detector: scores and box codes of every anchor. torchvision scales the image
    before, and decodes and selects boxes after."""

    def __init__(self, name):
        super().__init__()
        model = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None)
        self.backbone, self.head = model.backbone, model.head
        if name in FROZEN:
            freeze(self.backbone.body)

    def forward(self, x):
        features = self.backbone(x)
        outputs = self.head(list(features.values()))
        return tuple(outputs[key] for key in ("cls_logits", "bbox_regression", "bbox_ctrness") if key in outputs)


# name: (title, side of the image)
TWO_STAGES = {
    "fasterrcnn_resnet50_fpn": ("Faster R-CNN ResNet-50 FPN", 800),
    "fasterrcnn_resnet50_fpn_v2": ("Faster R-CNN ResNet-50 FPN V2", 800),
    "fasterrcnn_mobilenet_v3_large_fpn": ("Faster R-CNN MobileNetV3-Large FPN", 800),
    "fasterrcnn_mobilenet_v3_large_320_fpn": ("Faster R-CNN MobileNetV3-Large 320 FPN", 320),
    "maskrcnn_resnet50_fpn": ("Mask R-CNN ResNet-50 FPN", 800),
    "maskrcnn_resnet50_fpn_v2": ("Mask R-CNN ResNet-50 FPN V2", 800),
    "keypointrcnn_resnet50_fpn": ("Keypoint R-CNN ResNet-50 FPN", 800),
}
# Published with the normalisation of the backbone frozen, as above.
FROZEN_TWO_STAGES = tuple(name for name in TWO_STAGES if not name.endswith("_v2"))
FROZEN_MOBILENET = ("backbone.body.*.1.weight", "backbone.body.*.1.bias")
BRANCHES = {"maskrcnn": "mask", "keypointrcnn": "keypoint"}


class TwoStageDetector(nn.Module):
    """Backbone, proposals and heads of a two-stage detector. The best proposals of all maps go to the box head and the
    best boxes to the branch of masks or key points, as many as torchvision keeps at the most; suppression runs outside.
    Which map a box is pooled from hangs on its size and changes no work: here each map has an equal share."""

    def __init__(self, name, side):
        super().__init__()
        model = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None).eval()
        self.backbone, self.rpn_head, self.roi_heads = model.backbone, model.rpn.head, model.roi_heads
        self.proposals = model.rpn.post_nms_top_n()
        self.branch = BRANCHES.get(name.split("_")[0])
        if name in FROZEN_TWO_STAGES:
            freeze(self.backbone.body)
        with torch.no_grad():
            self.eval()
            places = sum(o[0].numel() for o in self.rpn_head(list(self.backbone(torch.zeros(1, 3, side, side)).values()))[0])
        self.register_buffer("anchors", torch.zeros(1, places, 4))

    def pooled(self, pool, features, boxes, count):
        names = [name for name in pool.featmap_names if name in features]
        size = pool.output_size
        image = torch.arange(boxes.shape[0]).to(boxes.dtype).reshape(-1, 1, 1).expand(-1, count, 1)
        rows, share = torch.cat([image, boxes[:, :count]], 2), -(-count // len(names))
        return torch.cat([torchvision.ops.roi_align(features[name], rows[:, i * share:(i + 1) * share].reshape(-1, 5), size,
                                                    1.0, pool.sampling_ratio) for i, name in enumerate(names)])

    def forward(self, x):
        features = self.backbone(x)
        scores, codes = self.rpn_head(list(features.values()))
        batch = x.shape[0]
        scores = torch.cat([s.permute(0, 2, 3, 1).reshape(batch, -1) for s in scores], 1)
        codes = torch.cat([c.permute(0, 2, 3, 1).reshape(batch, -1, 4) for c in codes], 1)
        best = scores.topk(self.proposals).indices.unsqueeze(2).expand(-1, -1, 4)
        boxes = (self.anchors + codes).gather(1, best)
        heads = self.roi_heads
        results = heads.box_predictor(heads.box_head(self.pooled(heads.box_roi_pool, features, boxes, self.proposals)))
        if self.branch is None:
            return results
        pool, head, predictor = (getattr(heads, f"{self.branch}_{part}") for part in ("roi_pool", "head", "predictor"))
        return (*results, predictor(head(self.pooled(pool, features, boxes, heads.detections_per_img))))


def entries():
    version = re.match(r"[\d.]*\d", torchvision.__version__.replace("a0", "")).group()
    rows = [Entry(name, title, family, CLASSIFICATION, f"torchvision {version} {name}", classifier(name),
                  (size, size), spatial, ALIASES.get(name, []), not_exported=NOT_EXPORTED.get(name),
                  buffers=("*relative_coords_table",) if name in FOLDED_BIAS else (),
                  macs_tolerance=0.005 if name in FOLDED_BIAS else 0)
            for name, (title, family, size, spatial) in CLASSIFIERS.items()]
    rows.append(Entry("vit_b_16_384", "ViT-B/16 384", "vit", CLASSIFICATION,
                      f"torchvision {version} vit_b_16 with image_size=384",
                      lambda: torchvision.models.vit_b_16(weights=None, image_size=384), (384, 384), "fixed", ALIASES["vit_b_16_384"]))
    rows += [Entry(name, title, family, "semantic-segmentation", f"torchvision {version} {name}", segmenter(name, auxiliary),
                   (520, 520), outputs=("out", "aux") if auxiliary else ("out",))
             for name, (title, family, auxiliary) in SEGMENTERS.items()]
    rows += [Entry(name, title, "video", "video-classification", f"torchvision {version} {name}", video(name),
                   (frames, side, side), "fixed", ALIASES.get(name, [])) for name, (title, frames, side) in VIDEO.items()]
    rows += [Entry(name, title, family, "object-detection", f"torchvision {version} {name}",
                   lambda name=name: RawDetector(name), (side, side), "fixed", outputs=("scores", "boxes", "centers") if family == "fcos" else ("scores", "boxes"),
                   buffers=FROZEN_NORM if name in FROZEN or family == "ssd" else ()) for name, (title, family, side) in DETECTORS.items()]
    rows += [Entry(name, title, name.split("_")[0], "object-detection", f"torchvision {version} {name}",
                   lambda name=name, side=side: TwoStageDetector(name, side), (side, side), "fixed",
                   outputs=("scores", "boxes", *((BRANCHES[name.split("_")[0]] + "s",) if name.split("_")[0] in BRANCHES else ())),
                   buffers=("anchors",) + ((FROZEN_MOBILENET if "mobilenet" in name else FROZEN_NORM) if name in FROZEN_TWO_STAGES else ()))
             for name, (title, side) in TWO_STAGES.items()]
    return rows
