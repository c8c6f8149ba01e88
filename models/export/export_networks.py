"""The table of networks written here (networks/) and of torchvision variants under other names."""
import torchvision

from entry import Entry
from networks import (caffe, detr, efficientdet, efficientformer, efficientnet_edgetpu, fastvit, inception, mobilenet_v1,
                      repvit, resnet_v1, resnet_v2, retinanet, ssd, unet, yolo)

CLASSIFICATION, DETECTION, SEGMENTATION = "image-classification", "object-detection", "semantic-segmentation"
# Figures of detectors are published as operations of every kind, or rounded to two digits.
PUBLISHED_LOOSELY = 0.01
FROZEN_NORM = ("backbone*bn*.weight", "backbone*bn*.bias", "backbone*downsample.1.weight",
               "backbone*downsample.1.bias")


def classifier(name, title, family, build, size, source, spatial="traced", **options):
    return Entry(name, title, family, CLASSIFICATION, source, build, (size, size), spatial,
                 tolerance=PUBLISHED_LOOSELY, **options)


def detector(name, title, family, build, size, source, outputs, **options):
    return Entry(name, title, family, DETECTION, source, build, size, outputs=outputs,
                 tolerance=PUBLISHED_LOOSELY, **options)


def entries():
    return [
        classifier("mobilenet_v1", "MobileNetV1", "mobilenet", mobilenet_v1.MobileNetV1, 224,
                   "arXiv:1704.04861"),
        classifier("mobilenet_v1_025", "MobileNetV1 x0.25", "mobilenet",
                   lambda: mobilenet_v1.MobileNetV1(width=0.25), 128, "arXiv:1704.04861"),
        classifier("mobilenetv2_140", "MobileNetV2 x1.4", "mobilenet",
                   lambda: torchvision.models.mobilenet_v2(weights=None, width_mult=1.4), 224,
                   "torchvision mobilenet_v2 with width_mult=1.4"),
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
                   "arXiv:1602.07261, TensorFlow-Slim inception_v4"),
        classifier("inception_resnet_v2", "Inception-ResNet-v2", "inception", inception.inception_resnet_v2, 299,
                   "arXiv:1602.07261, TensorFlow-Slim inception_resnet_v2"),
        classifier("inception_resnet_v2_aux", "Inception-ResNet-v2 up to its auxiliary classifier", "inception",
                   inception.Auxiliary, 299, "TensorFlow Lite hosted model Inception_ResNet_V2"),
        *(classifier(f"efficientnet_edgetpu_{size}", f"EfficientNet-EdgeTPU-{size.upper()}", "efficientnet",
                     lambda size=size: efficientnet_edgetpu.EfficientNetEdgeTpu(size),
                     efficientnet_edgetpu.SIZES[size][2], "arXiv:2003.02838, its authors' TensorFlow code")
          for size in efficientnet_edgetpu.SIZES),
        classifier("efficientformer_l1", "EfficientFormer-L1", "efficientformer",
                   efficientformer.efficientformer_l1, 224, "arXiv:2206.01191", spatial="fixed"),
        classifier("fastvit_t8", "FastViT-T8", "fastvit", fastvit.fastvit_t8, 256, "arXiv:2303.14189"),
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
                 ("scores", "boxes"), buffers=FROZEN_NORM + ("position.periods", "/Constant_5_output_0")),
        detector("yolov5s", "YOLOv5s", "yolo", yolo.yolov5s, (640, 640),
                 "YOLOv5 release 7.0, yolov5s configuration", ("predictions",), buffers=("head.anchors",)),
        *(detector(f"yolov8{size}", f"YOLOv8{size}", "yolo", lambda size=size: yolo.yolov8(size), (640, 640),
                   f"YOLOv8 yolov8{size} configuration", ("predictions",)) for size in yolo.YOLOV8),
    ]
