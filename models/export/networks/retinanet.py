"""RetinaNet (arXiv:1708.02002) as MLPerf Inference runs it: ResNeXt-50 32x4d, a feature pyramid on stages 2 to 4
and two further levels, 264 classes of OpenImages. Up to the raw scores and boxes; the backbone's batch
normalisation is frozen."""
from torch import nn
from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
from torchvision.models.detection.retinanet import RetinaNetHead
from torchvision.ops.feature_pyramid_network import LastLevelP6P7

from .layers import FrozenBatchNorm2d

ANCHORS_PER_LOCATION = 9


class RetinaNet(nn.Module):
    def __init__(self, classes=264):
        super().__init__()
        self.backbone = resnet_fpn_backbone(backbone_name="resnext50_32x4d", weights=None,
                                            norm_layer=FrozenBatchNorm2d, trainable_layers=5,
                                            returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256))
        self.head = RetinaNetHead(self.backbone.out_channels, ANCHORS_PER_LOCATION, classes)

    def forward(self, x):
        outputs = self.head(list(self.backbone(x).values()))
        return outputs["cls_logits"].sigmoid(), outputs["bbox_regression"]
