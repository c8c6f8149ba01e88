"""The table of networks that vendors' zoos have beside the usual ones: Hailo's names are aliases."""
from torch import nn

from entry import Entry
from networks import (cas_vit, darknet, enhancement, folded_vit, layers, mobilenet_v1, repghost, repvgg,
                      residual_tasks, segformer, super_resolution, yolo_tasks, yolov6, yolov7, yolov9, yolox)

CLASSIFICATION, DETECTION, SEGMENTATION = "image-classification", "object-detection", "semantic-segmentation"
# Figures are published to two or three digits, or count what is no product, too.
LOOSELY, COUNTED_OTHERWISE = 0.01, 0.03


def zoo(name, title, family, task, source, build, size, spatial="traced", outputs=("output",), names=()):
    return Entry(name, title, family, task, source, build, size if isinstance(size, tuple) else (size, size), spatial,
                 aliases=list(names), outputs=outputs, tolerance=LOOSELY, macs_tolerance=COUNTED_OTHERWISE)


def leaky(build):
    """With LeakyReLU in place of SiLU, as accelerators run it."""
    return lambda: layers.with_replaced(build(), nn.SiLU, lambda _: nn.LeakyReLU(0.1))


def detectors():
    three, two, darknets = ("small", "middle", "large"), ("middle", "large"), "arXiv:1804.02767"

    def detector(name, title, source, build, size=640, outputs=("predictions",), names=()):
        return zoo(name, title, "yolo", DETECTION, source, build, size, outputs=outputs, names=names)

    return [
        detector("yolov3", "YOLOv3", darknets, darknet.Yolov3, 416, three,
                 ("yolov3_416", "yolov3_gluon", "yolov3_gluon_416")),
        detector("yolov3-tiny", "YOLOv3 tiny", darknets, darknet.Yolov3Tiny, 416, two, ("tiny_yolov3",)),
        detector("yolov4", "YOLOv4", "arXiv:2004.10934", darknet.Yolov4, 608, three),
        detector("yolov4_leaky", "YOLOv4 with LeakyReLU", "arXiv:2004.10934", lambda: darknet.Yolov4(darknet.leaky), 512,
                 three),
        detector("yolov4-tiny", "YOLOv4 tiny", "arXiv:2011.08036", darknet.Yolov4Tiny, 416, two, ("tiny_yolov4",)),
        detector("yolov6n", "YOLOv6n of release 0.2", "arXiv:2209.02976", yolov6.Yolov6Nano,
                 names=("yolov6n_0.2.1", "yolov6n_0.2.1_nms_core")),
        detector("yolov7", "YOLOv7", "arXiv:2207.02696", yolov7.Yolov7, outputs=three),
        detector("yolov7-tiny", "YOLOv7 tiny", "arXiv:2207.02696", yolov7.Yolov7Tiny, outputs=three),
        detector("yolov9c", "YOLOv9-C", "arXiv:2402.13616", yolov9.Yolov9C),
        detector("yolox_s_leaky", "YOLOX-s with LeakyReLU", "arXiv:2107.08430", leaky(lambda: yolox.yolox("s"))),
        detector("yolox_l_leaky", "YOLOX-l with LeakyReLU", "arXiv:2107.08430", leaky(lambda: yolox.yolox("l"))),
        detector("yolox_s_wide_leaky", "YOLOX-s of three quarters of the width, LeakyReLU", "arXiv:2107.08430",
                 leaky(lambda: yolox.YoloX(0.33, 0.75, False))),
        zoo("fastsam-s", "FastSAM-s", "yolo", "instance-segmentation", "arXiv:2306.12156, yolov8s-seg of one class",
            lambda: yolo_tasks.yolov8_seg("s", 1), 640, outputs=("predictions", "prototypes"), names=("fast_sam_s",)),
    ]


def classifiers():
    def classifier(name, title, family, source, build, size=224, **options):
        return zoo(name, title, family, CLASSIFICATION, source, build, size, **options)

    hailo = "Hailo Model Zoo"
    widths = {"tiny": (192, 3), "small": (384, 6), "base": (768, 12)}
    return [
        *(classifier(f"repghost_{width}_0x", f"RepGhostNet {width}.0x", "repghost", "arXiv:2211.06088",
                     lambda width=width: repghost.RepGhost(width)) for width in (1, 2)),
        *(classifier(f"vit_{name}_bn", f"ViT-{name.title()}/16 with folded batch normalisation", "vit",
                     f"{hailo}, vit_{name}_bn: arXiv:2010.11929 with batch in place of layer normalisation",
                     lambda form=form: folded_vit.FoldedViT(*form), spatial="fixed") for name, form in widths.items()),
        *(classifier(f"cas_vit_{size}", f"CAS-ViT-{size.upper()}", "cas-vit", "arXiv:2408.03703",
                     lambda size=size: cas_vit.CasViT(size), 384) for size in cas_vit.SIZES),
        classifier("resnet18_person_attributes", "ResNet-18 with 35 outputs", "resnet", f"{hailo}, person attributes",
                   lambda: residual_tasks.resnet18_with(35), names=("person_attr_resnet_v1_18",)),
    ]


def others():
    hailo = "Hailo Model Zoo"
    clip = "Radford et al. 2021, table 19"
    return [
        zoo("segformer_b0_bn", "SegFormer-B0 with folded batch normalisation", "segformer", SEGMENTATION,
            f"{hailo}, segformer_b0_bn: arXiv:2105.15203 with batch in place of layer normalisation",
            lambda: layers.with_replaced(segformer.SegFormer("b0", 19), nn.LayerNorm, lambda _: nn.Identity()),
            (512, 1024), "fixed"),
        zoo("fcn8_resnet18", "FCN-8s ResNet-18", "fcn", SEGMENTATION, f"arXiv:1411.4038; {hailo}, fcn8_resnet_v1_18",
            residual_tasks.Fcn8, (1024, 1920), names=("fcn8_resnet_v1_18",)),
        *(zoo(f"vit_pose_small{suffix}", f"ViTPose-S{note}", "vit", "pose-estimation", "arXiv:2204.12484",
              lambda norm=norm: folded_vit.ViTPose(norm=norm), (256, 192), "fixed")
          for suffix, note, norm in (("", "", nn.LayerNorm),
                                     ("_bn", " with folded batch normalisation", folded_vit.folded))),
        zoo("scdepthv3", "SC-DepthV3", "depth", "depth-estimation", "arXiv:2211.03660, arXiv:1806.01260",
            residual_tasks.Depth, (256, 320)),
        zoo("arcface_r50", "ArcFace ResNet-50", "arcface", "face-recognition",
            f"arXiv:1801.07698; {hailo}, arcface_r50", residual_tasks.ArcFace, 112),
        zoo("tddfa_mobilenet_v1", "3DDFA v2 MobileNetV1", "mobilenet", "face-alignment", "arXiv:2009.09960",
            lambda: mobilenet_v1.MobileNetV1(classes=62), 120),
        zoo("repvgg_a0_person_reid", "RepVGG-A0 of persons, 512 features", "repvgg", "person-re-identification",
            f"arXiv:2101.03697; {hailo}, repvgg_a0_person_reid_512", lambda: repvgg.RepVgg("a0", 512), (256, 128),
            names=("repvgg_a0_person_reid_512",)),
        zoo("clip-rn50-image", "CLIP ResNet-50 image encoder", "clip", "image-embedding", clip,
            lambda: residual_tasks.ClipResNet((3, 4, 6, 3), 64, 32, 224, 1024), 224, "fixed",
            names=("clip_resnet_50_image_encoder",)),
        zoo("clip-rn50x4-image", "CLIP ResNet-50x4 image encoder", "clip", "image-embedding", clip,
            lambda: residual_tasks.ClipResNet((4, 6, 10, 6), 80, 40, 288, 640), 288, "fixed",
            names=("clip_resnet_50x4_image_encoder",)),
        zoo("zero_dce", "Zero-DCE", "zero-dce", "image-enhancement", "CVPR 2020, Guo et al.", enhancement.ZeroDce,
            (400, 600)),
        zoo("zero_dce_pp", "Zero-DCE++", "zero-dce", "image-enhancement", "arXiv:2103.00860",
            lambda: enhancement.ZeroDce(light=True), (400, 600)),
        zoo("edsr_baseline_x4", "EDSR baseline x4", "edsr", "super-resolution", "arXiv:1707.02921",
            lambda: super_resolution.Edsr(16, 64, 4), 128, names=("edsr_baseline", "edsr-baseline-x4")),
        zoo("real-esrgan-x4plus", "Real-ESRGAN x4plus", "esrgan", "super-resolution",
            "arXiv:1809.00219, arXiv:2107.10833", super_resolution.Esrgan, 128, names=("esrgan", "real_esrgan_x4plus", "RealESRGAN_x4plus")),
        zoo("dncnn_color_blind", "DnCNN for colours", "dncnn", "image-denoising", "arXiv:1608.03981", enhancement.DnCnn,
            (321, 481)),
    ]


def zoo_entries():
    return detectors() + classifiers() + others()
