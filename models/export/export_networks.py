"""The table of networks written here (networks/) and of torchvision variants under other names."""
import torchvision
from torchvision.models.resnet import Bottleneck, ResNet
from torchvision.models.vision_transformer import VisionTransformer

from entry import Entry
from export_zoos import zoo_entries
from networks import (caffe, detr, dfine, efficientdet, efficientformer, efficientnet_edgetpu, efficientnet_lite,
                      fastvit, hardnet, inception, lcnet, mlp_mixers, mobilenet_edgetpu, mobilenet_v1, mobilenet_v4,
                      mobileone, mobilevit, plain_vit, repvgg, repvit, resnet_v1, resnet_v2, resnet_variants, retinanet,
                      rtdetr, segformer, ssd, swin3d, unet, yolo, yolo11, yolo_tasks, yolov6, yolox)

CLASSIFICATION, DETECTION, SEGMENTATION = "image-classification", "object-detection", "semantic-segmentation"
INSTANCES, POSE = "instance-segmentation", "pose-estimation"
# Figures of detectors are published as operations of every kind, or rounded to two digits.
PUBLISHED_LOOSELY = 0.01
# Some leave out the products of attention, or count a share of the operations that are no products.
COUNTED_OTHERWISE = 0.03
FROZEN_NORM = ("backbone*bn*.weight", "backbone*bn*.bias", "backbone*downsample.1.weight",
               "backbone*downsample.1.bias")
DETR_TABLES = FROZEN_NORM + ("position.periods", "/Constant_5_output_0")

RT_DETR_TABLES = ("decoder.anchors", "decoder.valid", "encoder.attend.positions")
D_FINE_TABLES = RT_DETR_TABLES + ("decoder.distances", "*.shares")


def classifier(name, title, family, build, size, source, spatial="traced", **options):
    return Entry(name, title, family, CLASSIFICATION, source, build, (size, size), spatial,
                 tolerance=PUBLISHED_LOOSELY, **options)


def detector(name, title, family, build, size, source, outputs, **options):
    return Entry(name, title, family, DETECTION, source, build, size, outputs=outputs,
                 tolerance=PUBLISHED_LOOSELY, **options)


# What Qualcomm AI Hub calls the sizes that it takes.
AI_HUB = {"yolov8n": ["yolov8_det"], "yolov8n-seg": ["yolov8_seg"], "yolov10n": ["yolov10_det"],
          "yolo11n-seg": ["yolov11_seg"]}


def yolo_sizes(sizes, task, name, title, source, build, outputs=("predictions",), size=640, names=(), loose=False,
               **options):
    """An entry per size; "{}" in the texts stands for it. `loose`: the published operations leave out attention."""
    return [Entry(name.format(s), title.format(s), "yolo", task, source.format(s), lambda s=s: build(s), (size, size),
                  aliases=[n.format(s) for n in names] + AI_HUB.get(name.format(s), []), outputs=outputs,
                  tolerance=PUBLISHED_LOOSELY, macs_tolerance=COUNTED_OTHERWISE if loose else 0, **options)
            for s in sizes]


def yolos():
    anchors, masks = ("head.anchors",), ("predictions", "prototypes")
    later = {"loose": True}
    return [
        *yolo_sizes(yolo.YOLOV5, DETECTION, "yolov5{}", "YOLOv5{}", "YOLOv5 release 7.0, yolov5{} configuration",
                    yolo.yolov5, buffers=anchors, names=("yolov5{}_6.1", "yolo_v5{}", "ultralytics/yolov5{}")),
        *yolo_sizes("nsm", DETECTION, "yolov5{}6", "YOLOv5{}6", "YOLOv5 release 7.0, yolov5{}6 configuration",
                    yolo.yolov5_p6, size=1280, buffers=anchors, names=("yolov5{}6_6.1",)),
        *yolo_sizes(yolo.YOLOV5, INSTANCES, "yolov5{}-seg", "YOLOv5{} with masks",
                    "YOLOv5 release 7.0, yolov5{}-seg configuration", yolo_tasks.yolov5_seg, masks,
                    buffers=("head.detect.anchors",)),
        *yolo_sizes(yolo.YOLOV5, CLASSIFICATION, "yolov5{}-cls", "YOLOv5{} classifier", "YOLOv5 release 7.0, yolov5{}-cls",
                    yolo_tasks.yolov5_cls, ("output",), 224, loose=True),
        *yolo_sizes(yolo.YOLOV8, DETECTION, "yolov8{}", "YOLOv8{}", "YOLOv8 yolov8{} configuration", yolo.yolov8,
                    names=("Ultralytics/YOLOv8{}",)),
        *yolo_sizes(yolo.YOLOV8, INSTANCES, "yolov8{}-seg", "YOLOv8{} with masks", "YOLOv8 yolov8{}-seg configuration",
                    yolo_tasks.yolov8_seg, masks),
        *yolo_sizes(yolo.YOLOV8, POSE, "yolov8{}-pose", "YOLOv8{} with key points",
                    "YOLOv8 yolov8{}-pose configuration", yolo_tasks.yolov8_pose),
        *yolo_sizes(yolo.YOLOV8, CLASSIFICATION, "yolov8{}-cls", "YOLOv8{} classifier",
                    "YOLOv8 yolov8{}-cls configuration", yolo_tasks.yolov8_cls, ("output",), 224),
        *yolo_sizes(yolo11.YOLOV10, DETECTION, "yolov10{}", "YOLOv10-{}",
                    "arXiv:2405.14458, yolov10{} configuration", yolo11.yolov10, **later),
        *yolo_sizes(yolo11.SCALES, DETECTION, "yolo11{}", "YOLO11{}", "YOLO11 yolo11{} configuration", yolo11.yolo11,
                    names=("yolov11{}", "Ultralytics/YOLO11{}"), **later),
        *yolo_sizes(yolo11.SCALES, INSTANCES, "yolo11{}-seg", "YOLO11{} with masks",
                    "YOLO11 yolo11{}-seg configuration", yolo11.yolo11_seg, masks, names=("yolov11{}-seg",), **later),
        *yolo_sizes(yolo11.SCALES, POSE, "yolo11{}-pose", "YOLO11{} with key points",
                    "YOLO11 yolo11{}-pose configuration", yolo11.yolo11_pose, names=("yolov11{}-pose",), **later),
        *yolo_sizes(yolo11.SCALES, CLASSIFICATION, "yolo11{}-cls", "YOLO11{} classifier",
                    "YOLO11 yolo11{}-cls configuration", yolo11.yolo11_cls, ("output",), 224,
                    names=("yolov11{}-cls", "yolo26{}-cls"), **later),
        *yolo_sizes(yolo11.SCALES, DETECTION, "yolo12{}", "YOLO12{}", "YOLO12 yolo12{} configuration", yolo11.yolo12,
                    spatial="fixed", names=("yolov12{}",), **later),
        *yolo_sizes(yolo11.SCALES, INSTANCES, "yolo12{}-seg", "YOLO12{} with masks",
                    "YOLO12 yolo12{}-seg configuration", yolo11.yolo12_seg, masks, spatial="fixed",
                    names=("yolov12{}-seg",), **later),
        *yolo_sizes(yolo11.SCALES, CLASSIFICATION, "yolo12{}-cls", "YOLO12{} classifier",
                    "YOLO12 yolo12{}-cls configuration", yolo11.yolo12_cls, ("output",), 224, spatial="fixed",
                    names=("yolov12{}-cls",), **later),
        *yolo_sizes(yolo11.SCALES, DETECTION, "yolo26{}", "YOLO26{}", "YOLO26 yolo26{} configuration", yolo11.yolo26,
                    names=("yolov26{}", "Ultralytics/YOLO26{}"), **later),
        *yolo_sizes(yolo11.SCALES, INSTANCES, "yolo26{}-seg", "YOLO26{} with masks",
                    "YOLO26 yolo26{}-seg configuration", yolo11.yolo26_seg, masks, names=("yolov26{}-seg",), **later),
        *yolo_sizes(yolo11.SCALES, POSE, "yolo26{}-pose", "YOLO26{} with key points",
                    "YOLO26 yolo26{}-pose configuration", yolo11.yolo26_pose, names=("yolov26{}-pose",), **later),
        *yolo_sizes("sml", DETECTION, "yolov6{}", "YOLOv6{} of release 0.3", "arXiv:2301.05586", yolov6.Yolov6,
                    names=("meituan/YOLOv6{}", "yolov6{}_0.3")),
        *yolo_sizes([s for s in yolox.YOLOX if len(s) == 1], DETECTION, "yolox_{}", "YOLOX-{}", "arXiv:2107.08430",
                    yolox.yolox),
        *yolo_sizes(["tiny"], DETECTION, "yolox_{}", "YOLOX-{}", "arXiv:2107.08430",
                    yolox.yolox, size=416),
    ]


# name: (title, side of the image, of a patch, layers, heads, width, other names)
TRANSFORMERS = {
    "deit_tiny": ("DeiT-Ti/16", 224, 16, 12, 3, 192,
                  ("vit_tiny", "deit_tiny_patch16_224", "vit_tiny_patch16_224", "facebook/deit-tiny-patch16-224")),
    "deit_small": ("DeiT-S/16", 224, 16, 12, 6, 384,
                   ("vit_small", "deit_small_patch16_224", "vit_small_patch16_224", "facebook/deit-small-patch16-224")),
    "vit_small_patch32_224": ("ViT-S/32", 224, 32, 12, 6, 384, ()),
    "vit_tiny_patch16_384": ("ViT-Ti/16 384", 384, 16, 12, 3, 192, ()),
    "vit_small_patch16_384": ("ViT-S/16 384", 384, 16, 12, 6, 384, ()),
    "vit_base_patch32_384": ("ViT-B/32 384", 384, 32, 12, 12, 768, ("google/vit-base-patch32-384",)),
}
# name: (title, units of the stages, groups, channels of a group)
RESNETS = {
    "resnet26": ("ResNet-26", (2, 2, 2, 2), 1, 64),
    "resnet200": ("ResNet-200", (3, 24, 36, 3), 1, 64),
    "resnext26_32x4d": ("ResNeXt-26 32x4d", (2, 2, 2, 2), 32, 4),
    "resnext101_32x4d": ("ResNeXt-101 32x4d", (3, 4, 23, 3), 32, 4),
}


def more_classifiers():
    """Sizes and relatives of networks above, whose parameters timm's tables give."""
    variant = resnet_variants.ResNetVariant
    return [
        *(classifier(f"efficientnet_lite{s}", f"EfficientNet-Lite{s}", "efficientnet",
                     lambda w=w, d=d: efficientnet_lite.EfficientNetLite(w, d), side,
                     "TensorFlow, models/official/efficientnet/lite", aliases=[f"tf_efficientnet_lite{s}"],
                     macs_tolerance=COUNTED_OTHERWISE)
          for s, w, d, side in efficientnet_lite.SIZES),
        *(classifier(f"repvgg_{s}", f"RepVGG-{s.upper()}", "repvgg", lambda s=s: repvgg.RepVgg(s), 224,
                     "arXiv:2101.03697, deployed form") for s in repvgg.SIZES),
        *(classifier(name, title, "vit", lambda a=a: VisionTransformer(*a[:5], 4 * a[4]), a[0],
                     "arXiv:2010.11929, arXiv:2012.12877", spatial="fixed", aliases=list(a[5]))
          for name, (title, *a) in TRANSFORMERS.items()),
        *(classifier(name, title, "resnet",
                     lambda a=a: ResNet(Bottleneck, list(a[0]), groups=a[1], width_per_group=a[2]), 224,
                     "torchvision ResNet of other depths") for name, (title, *a) in RESNETS.items()),
        *(classifier(f"seresnet{d}", f"SE-ResNet-{d}", "resnet", lambda d=d: variant(d, squeeze=True), 224,
                     "arXiv:1709.01507") for d in resnet_variants.DEPTHS),
        *(classifier(f"resnet{d}d", f"ResNet-{d}-D", "resnet", lambda d=d: variant(d, deep_stem=True), 224,
                     "arXiv:1812.01187") for d in (18, 34, 50, 101)),
        *(classifier(f"mixer_{s}{p}_224", f"MLP-Mixer-{s.upper()}/{p}", "mixer", lambda s=s, p=p: mlp_mixers.Mixer(s, p),
                     224, "arXiv:2105.01601", spatial="fixed")
          for s, p in (("s", 32), ("s", 16), ("b", 32), ("b", 16), ("l", 32))),
        *(classifier(f"resmlp_{d}_224", f"ResMLP-{d}", "resmlp", lambda d=d: mlp_mixers.ResMlp(d), 224,
                     "arXiv:2105.03404", spatial="fixed") for d in (12, 24, 36)),
        *(classifier(f"poolformer_{s}", f"PoolFormer-{s.upper()}", "poolformer", lambda s=s: mlp_mixers.PoolFormer(s),
                     224, "arXiv:2111.11418") for s in mlp_mixers.POOLFORMERS),
        *(classifier(f"hardnet{s}", f"HarDNet-{s.upper()}", "hardnet", lambda s=s: hardnet.HarDNet(s), 224,
                     "arXiv:1909.00948", macs_tolerance=COUNTED_OTHERWISE) for s in hardnet.SIZES),
        *(classifier(f"lcnet_{int(100 * w):03}", f"PP-LCNet x{w}", "lcnet", lambda w=w: lcnet.LcNet(w), 224,
                     "arXiv:2109.15099") for w in (0.35, 0.5, 0.75, 1.0, 1.5)),
        *(classifier(f"mobilenetv4_{s}", f"MobileNetV4-{title}", "mobilenet",
                     lambda s=s: mobilenet_v4.MobileNetV4(s), side, "arXiv:2404.10518",
                     spatial="fixed" if s.startswith("hybrid") else "traced",
                     aliases=[f"mobilenet_v4_{s}", f"MobileNetV4-{title}"],
                     macs_tolerance=COUNTED_OTHERWISE)
          for s, (title, *_, side) in mobilenet_v4.SIZES.items()),
        *(classifier(f"mobileone_{s}", f"MobileOne-{s.upper()}", "mobileone", lambda s=s: mobileone.MobileOne(s), 224,
                     "arXiv:2206.04040, inference form") for s in mobileone.SIZES),
        classifier("mobilenet_edgetpu", "MobileNet-EdgeTPU", "mobilenet", mobilenet_edgetpu.MobileNetEdgeTpu, 224,
                   "MLPerf Mobile's classifier; TensorFlow, models/research/slim mobilenet_edgetpu",
                   aliases=["mobilenet_edgetpu_100", "mobilenet_edgetpu_224_1.0"], macs_tolerance=COUNTED_OTHERWISE),
        *(classifier(f"mobilenetv2_{int(100 * w):03}", f"MobileNetV2 x{w}", "mobilenet",
                     lambda w=w: torchvision.models.mobilenet_v2(weights=None, width_mult=w), 224,
                     f"torchvision mobilenet_v2 with width_mult={w}") for w in (0.35, 0.5, 0.75)),
    ]


# What DINOv2 stores and does not run at this size.
UNUSED = {"pattern": "unused", "reason": "positions of the trained size that the interpolated ones replace, and the token of "
                                         "masked patches"}
NAMES = {"s": "small", "b": "base"}


def encoders():
    """Features of images that other networks, or people, build on."""
    embedding, depth = "image-embedding", "depth-estimation"
    return [
        *(Entry(f"dinov2_vit{s}14", f"DINOv2 ViT-{s.upper()}/14", "vit", embedding, "arXiv:2304.07193",
                lambda s=s: plain_vit.DinoV2(s), (224, 224), "fixed", not_exported=UNUSED,
                aliases=[f"dinov2-{NAMES[s]}", f"facebook/dinov2-{NAMES[s]}"] + ["dinov2"] * (s == "b"))
          for s in plain_vit.SIZES),
        *(Entry(f"dinov3_vit{s}16", f"DINOv3 ViT-{s.upper()}/16", "vit", embedding, "arXiv:2508.10104",
                lambda s=s: plain_vit.DinoV3(s), (224, 224), "fixed", tolerance=PUBLISHED_LOOSELY,
                not_exported={"pattern": "unused", "reason": "the token of masked patches"},
                buffers=("cosines", "sines"),
                aliases=[f"dinov3-vit{s}16", f"facebook/dinov3-vit{s}16-pretrain-lvd1689m"] + ["dinov3"] * (s == "b"))
          for s in plain_vit.SIZES),
        *(Entry(f"depth_anything_v2_vit{s}", f"Depth Anything V2 {NAMES[s]}", "depth", depth, "arXiv:2406.09414",
                lambda s=s: plain_vit.DepthAnythingV2(s), (518, 518), "fixed",
                not_exported={"pattern": "*unused*", "reason": "the token of masked patches, and a unit that the deepest map "
                                                               "does not pass"},
                aliases=[f"depth-anything-v2-{NAMES[s]}", f"depth-anything/Depth-Anything-V2-{NAMES[s].title()}"] +
                ["depth-anything-v2", "depth-anything"] * (s == "s"))
          for s in plain_vit.DEPTH),
        *(Entry(f"siglip-{name}-image", f"SigLIP {name}, its image encoder", "siglip", embedding, "arXiv:2303.15343",
                lambda name=name: plain_vit.SiglipImage(name), (plain_vit.SIGLIP[name][5],) * 2, "fixed",
                aliases=[f"siglip2-{name}-image"]) for name in plain_vit.SIGLIP),
        *(classifier(f"mobilevit_{s}", f"MobileViT-{s.upper()}", "mobilevit", lambda s=s: mobilevit.MobileViT(s), 256,
                     "arXiv:2110.02178", spatial="fixed", macs_tolerance=COUNTED_OTHERWISE,
                     aliases=[f"mobilevit-{name}", f"apple/mobilevit-{name}"])
          for s, name in zip(mobilevit.SIZES, ("small", "x-small", "xx-small"))),
    ]


def entries():
    return [
        *more_classifiers(),
        *encoders(),
        *zoo_entries(),
        classifier("mobilenet_v1", "MobileNetV1", "mobilenet", mobilenet_v1.MobileNetV1, 224,
                   "arXiv:1704.04861", aliases=["google/mobilenet_v1_1.0_224", "mobilenet-v1-1.0-224-tf"]),
        classifier("mobilenet_v1_025", "MobileNetV1 x0.25", "mobilenet",
                   lambda: mobilenet_v1.MobileNetV1(width=0.25), 128, "arXiv:1704.04861"),
        classifier("mobilenet_v1_050", "MobileNetV1 x0.5", "mobilenet",
                   lambda: mobilenet_v1.MobileNetV1(width=0.5), 224, "arXiv:1704.04861"),
        classifier("mobilenetv2_140", "MobileNetV2 x1.4", "mobilenet",
                   lambda: torchvision.models.mobilenet_v2(weights=None, width_mult=1.4), 224,
                   "torchvision mobilenet_v2 with width_mult=1.4", aliases=["mobilenet_v2_1.4"]),
        classifier("bvlc_alexnet", "AlexNet of the Caffe model zoo", "alexnet", caffe.AlexNet, 227,
                   "Caffe model zoo bvlc_alexnet; ncnn benchmark/alexnet.param", spatial="fixed"),
        classifier("bvlc_googlenet", "GoogLeNet of the Caffe model zoo", "googlenet", caffe.GoogLeNet, 224,
                   "Caffe model zoo bvlc_googlenet; arXiv:1409.4842"),
        classifier("caffe_resnet50", "ResNet-50 v1", "resnet", resnet_v1.caffe_resnet50, 224,
                   "arXiv:1512.03385, the authors' Caffe networks"),
        classifier("slim_resnet101_v1", "ResNet-101 v1 of TensorFlow-Slim", "resnet", resnet_v1.slim_resnet101, 224,
                   "TensorFlow-Slim resnet_v1_101"),
        classifier("slim_resnet50_v2", "ResNet-50 v2 of TensorFlow-Slim", "resnet", resnet_v2.slim_resnet50_v2, 299,
                   "TensorFlow-Slim resnet_v2_50"),
        classifier("slim_resnet152_v2", "ResNet-152 v2 of TensorFlow-Slim", "resnet", resnet_v2.slim_resnet152_v2, 299,
                   "TensorFlow-Slim resnet_v2_152"),
        classifier("inception_v4", "Inception-v4", "inception", inception.inception_v4, 299,
                   "arXiv:1602.07261, TensorFlow-Slim inception_v4", aliases=["googlenet-v4-tf"]),
        classifier("inception_resnet_v2", "Inception-ResNet-v2", "inception", inception.inception_resnet_v2, 299,
                   "arXiv:1602.07261, TensorFlow-Slim inception_resnet_v2"),
        classifier("inception_resnet_v2_aux", "Inception-ResNet-v2 up to its auxiliary classifier", "inception",
                   inception.Auxiliary, 299, "TensorFlow Lite hosted model Inception_ResNet_V2"),
        *(classifier(f"efficientnet_edgetpu_{size}", f"EfficientNet-EdgeTPU-{size.upper()}", "efficientnet",
                     lambda size=size: efficientnet_edgetpu.EfficientNetEdgeTpu(size),
                     efficientnet_edgetpu.SIZES[size][2], "arXiv:2003.02838, its authors' TensorFlow code",
                     aliases=[f"efficientnet_{size}", f"efficientnet_e{size}"])
          for size in efficientnet_edgetpu.SIZES),
        classifier("efficientformer_l1", "EfficientFormer-L1", "efficientformer",
                   efficientformer.efficientformer_l1, 224, "arXiv:2206.01191", spatial="fixed"),
        classifier("fastvit_t8", "FastViT-T8", "fastvit", fastvit.fastvit_t8, 256, "arXiv:2303.14189"),
        classifier("fastvit_t12", "FastViT-T12", "fastvit", fastvit.fastvit_t12, 256, "arXiv:2303.14189"),
        classifier("fastvit_s12", "FastViT-S12", "fastvit", fastvit.fastvit_s12, 256, "arXiv:2303.14189"),
        classifier("fastvit_sa12", "FastViT-SA12", "fastvit", fastvit.fastvit_sa12, 256, "arXiv:2303.14189"),
        classifier("repvit_m0_9", "RepViT-M0.9", "repvit", repvit.repvit_m0_9, 224, "arXiv:2307.09283"),
        classifier("repvit_m1_1", "RepViT-M1.1", "repvit", repvit.repvit_m1_1, 224, "arXiv:2307.09283"),
        Entry("tf_unet_mobilenet_v2", "U-Net MobileNetV2 of TensorFlow's tutorial", "unet", SEGMENTATION,
              "arXiv:1505.04597, TensorFlow tutorial Image segmentation", unet.UNetMobileNetV2, (128, 128),
              tolerance=PUBLISHED_LOOSELY),
        detector("ssd-mobilenet_v1", "SSD MobileNetV1", "ssd", ssd.ssd_mobilenet_v1, (300, 300),
                 "arXiv:1512.02325, TensorFlow object detection API", ("boxes", "scores")),
        detector("ssd-mobilenet_v2", "SSD MobileNetV2", "ssd", ssd.ssd_mobilenet_v2, (300, 300),
                 "arXiv:1512.02325, TensorFlow object detection API", ("boxes", "scores")),
        detector("ssd-resnet34", "SSD ResNet-34 1200", "ssd", ssd.SsdResNet34, (1200, 1200),
                 "arXiv:1512.02325, MLPerf Inference v0.5", ("boxes", "scores")),
        detector("retinanet_resnext50_fpn", "RetinaNet ResNeXt-50 FPN", "retinanet", retinanet.RetinaNet,
                 (800, 800), "arXiv:1708.02002, MLPerf Inference v2.1", ("scores", "boxes"),
                 buffers=FROZEN_NORM),
        detector("efficientdet-d0", "EfficientDet-D0", "efficientdet", efficientdet.efficientdet_d0, (512, 512),
                 "arXiv:1911.09070", ("scores", "boxes")),
        detector("detr-resnet50", "DETR ResNet-50", "detr", detr.Detr, (800, 1137), "arXiv:2005.12872",
                 ("scores", "boxes"), buffers=DETR_TABLES, aliases=["facebook/detr-resnet-50", "detr-resnet-50"]),
        *(detector(name, title, "rt-detr", build, (640, 640), source, ("scores", "boxes"), spatial="fixed",
                   buffers=RT_DETR_TABLES, aliases=aliases, macs_tolerance=COUNTED_OTHERWISE)
          for name, (title, build, source, aliases) in rtdetr.SIZES.items()),
        *(detector(f"dfine-{s}", f"D-FINE-{s.upper()}", "d-fine", lambda form=form: dfine.DFine(*form), (640, 640),
                   f"arXiv:2410.13842, dfine_hgnetv2_{s} configuration", ("scores", "boxes"), spatial="fixed",
                   buffers=D_FINE_TABLES, aliases=[f"dfine_{s}", f"d-fine-{s}", f"ustc-community/dfine-{title}-coco"],
                   macs_tolerance=COUNTED_OTHERWISE)
          for (s, form), title in zip(dfine.SIZES.items(), ("nano", "small", "medium", "large", "xlarge"))),
        *(Entry(f"swin3d_{size}", f"Video Swin-{size.upper()}", "video", "video-classification",
                f"arXiv:2106.13230, torchvision 0.15 swin3d_{size}", lambda size=size: swin3d.Swin3d(size), (16, 224, 224),
                "fixed", buffers=("*/attn/Constant_50_output_0",)) for size in swin3d.SIZES),  # masks of moved windows
        *yolos(),
        Entry("segformer_b0", "SegFormer-B0", "segformer", SEGMENTATION, "arXiv:2105.15203",
              lambda: segformer.SegFormer("b0", 19), (512, 1024), "fixed",
              aliases=["nvidia/segformer-b0-finetuned-cityscapes-512-1024"], tolerance=PUBLISHED_LOOSELY),
    ]
