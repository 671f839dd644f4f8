"""Chains of convolutions: LeNet, AlexNet, VGG-16, SqueezeNet, MobileNet."""

from __future__ import annotations

from templates.writer import AVE, DEPLOYED, IN_TESTS, IN_TRAINING, LMDB, WITH_LABELS, Net

# Weights learn at the rate of the solver; biases at twice that, and they do not decay.
WEIGHTS_AND_BIAS = [{"lr_mult": 1, "decay_mult": 1}, {"lr_mult": 2, "decay_mult": 0}]


def lenet() -> str:
    net = Net(
        "LeNet",
        [
            "LeNet for grey images of 28 x 28 pixels, such as MNIST's digits.",
            "After Y. LeCun et al., Gradient-Based Learning Applied to Document Recognition, 1998,",
            "with max pooling and ReLU as it is used today. 431,080 parameters.",
        ],
    )
    net.section("Data: grey values from 0 to 255 are scaled to the range from 0 to 1 (0.00390625 is 1/256).")
    for rule, source, batch in ((IN_TRAINING, "mnist_train_lmdb", 64), (IN_TESTS, "mnist_test_lmdb", 100)):
        net.layer(
            "data",
            "Data",
            [],
            ["data", "label"],
            include=rule,
            transform_param={"scale": 0.00390625},
            data_param={"source": source, "backend": LMDB, "batch_size": batch},
        )
    net.input("data", [1, 1, 28, 28])
    net.section("Features: two rounds of learned filters, each followed by pooling, which halves height and width.")
    fill = {"weight_filler": {"type": "xavier"}}
    top = net.pool("pool1", net.conv("conv1", "data", 20, 5, relu=False, **fill), 2, 2)
    top = net.pool("pool2", net.conv("conv2", top, 50, 5, relu=False, **fill), 2, 2)
    net.section("Classifier: a hidden layer, then a score for each digit.")
    net.dense("ip1", top, 500)
    net.relu("ip1")
    net.verdict(net.dense("ip2", "ip1", 10), top5=False)
    return net.text()


def alexnet() -> str:
    net = Net(
        "AlexNet",
        [
            "AlexNet for colour images of 227 x 227 pixels and 1,000 classes.",
            "After A. Krizhevsky et al., ImageNet Classification with Deep Convolutional Neural Networks, 2012.",
            "conv2, conv4 and conv5 work in two groups, as on the two GPUs of the paper. 60,965,224 parameters.",
        ],
    )
    net.images(227, 256)

    def conv(name: str, bottom: str, outputs: int, kernel: int, bias: float, **more: object) -> str:
        fillers = {
            "weight_filler": {"type": "gaussian", "std": 0.01},
            "bias_filler": {"type": "constant", "value": bias},
        }
        return net.conv(name, bottom, outputs, kernel, param=WEIGHTS_AND_BIAS, **more, **fillers)

    lrn = {"local_size": 5, "alpha": 0.0001, "beta": 0.75}
    net.section("Features: five convolutions; the first two are normalized across neighbouring channels.")
    net.layer("norm1", "LRN", conv("conv1", "data", 96, 11, 0, stride=4), "norm1", lrn_param=lrn)
    conv("conv2", net.pool("pool1", "norm1", 3, 2), 256, 5, 0.1, pad=2, group=2)
    net.layer("norm2", "LRN", "conv2", "norm2", lrn_param=lrn)
    conv("conv3", net.pool("pool2", "norm2", 3, 2), 384, 3, 0, pad=1)
    conv("conv4", "conv3", 384, 3, 0.1, pad=1, group=2)
    top = net.pool("pool5", conv("conv5", "conv4", 256, 3, 0.1, pad=1, group=2), 3, 2)
    net.section("Classifier: two wide layers with dropout hold most of the parameters.")
    for name in ("fc6", "fc7"):
        top = net.dense(name, top, 4096, {"type": "gaussian", "std": 0.005}, param=WEIGHTS_AND_BIAS)
        net.relu(name)
        net.dropout(name, 0.5)
    net.verdict(net.dense("fc8", top, 1000, {"type": "gaussian", "std": 0.01}, param=WEIGHTS_AND_BIAS))
    return net.text()


def vgg16() -> str:
    net = Net(
        "VGG-16",
        [
            "VGG-16 for colour images of 224 x 224 pixels and 1,000 classes.",
            "After K. Simonyan and A. Zisserman, Very Deep Convolutional Networks for Large-Scale Image",
            "Recognition, 2014, configuration D. 138,357,544 parameters, most of them in fc6.",
        ],
    )
    net.images(224, 64, test_batch=25)
    top = "data"
    for stage, (count, outputs) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)), start=1):
        net.section(f"Stage {stage}: {count} convolutions of 3 x 3 with {outputs} channels, then half the size.")
        for number in range(1, count + 1):
            top = net.conv(f"conv{stage}_{number}", top, outputs, 3, pad=1)
        top = net.pool(f"pool{stage}", top, 2, 2)
    net.section("Classifier: two wide layers with dropout.")
    for name in ("fc6", "fc7"):
        top = net.dense(name, top, 4096, {"type": "gaussian", "std": 0.005})
        net.relu(name)
        net.dropout(name, 0.5)
    net.verdict(net.dense("fc8", top, 1000, {"type": "gaussian", "std": 0.01}))
    return net.text()


def squeezenet() -> str:
    net = Net(
        "SqueezeNet",
        [
            "SqueezeNet 1.0 for colour images of 227 x 227 pixels and 1,000 classes.",
            "After F. Iandola et al., SqueezeNet: AlexNet-level accuracy with 50x fewer parameters, 2016.",
            "A fire module squeezes to few channels and expands with filters of 1 x 1 and 3 x 3. 1,248,424 parameters.",
        ],
    )
    net.images(227, 32, test_batch=25)
    net.section("Stem.")
    top = net.pool("pool1", net.conv("conv1", "data", 96, 7, stride=2), 3, 2)

    def fire(number: int, bottom: str, squeeze: int, expand: int) -> str:
        name = f"fire{number}"
        net.section(f"Fire module {number}: {squeeze} channels, then {expand} + {expand}.")
        net.conv(f"{name}_squeeze", bottom, squeeze, 1)
        net.conv(f"{name}_expand1x1", f"{name}_squeeze", expand, 1)
        net.conv(f"{name}_expand3x3", f"{name}_squeeze", expand, 3, pad=1)
        return net.layer(f"{name}", "Concat", [f"{name}_expand1x1", f"{name}_expand3x3"], name)

    for number, (squeeze, expand) in enumerate(
        ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)), start=2
    ):
        top = fire(number, top, squeeze, expand)
        if number in (4, 8):
            top = net.pool(f"pool{number}", top, 3, 2)
    net.section("Classifier: a score map for each class, averaged over the image; no layer is fully connected.")
    net.dropout(top, 0.5)
    net.conv("conv10", top, 1000, 1, weight_filler={"type": "gaussian", "std": 0.01})
    net.verdict(net.layer("pool10", "Pooling", "conv10", "pool10", pooling_param={"pool": AVE, "global_pooling": True}))
    return net.text()


def mobilenet() -> str:
    net = Net(
        "MobileNet",
        [
            "MobileNet (version 1, width 1.0) for colour images of 224 x 224 pixels and 1,000 classes.",
            "After A. Howard et al., MobileNets: Efficient Convolutional Neural Networks for Mobile Vision",
            "Applications, 2017. A convolution is split in two: 'dw' filters each channel by itself (as many groups as",
            "channels), 'pw' mixes them. 4,231,976 parameters; running means and variances are not counted.",
        ],
    )
    net.images(224, 64, scale=0.017)
    net.section("Stem.")
    net.conv("conv1", "data", 32, 3, pad=1, stride=2, bias_term=False, relu=False)
    top, channels = net.norm("conv1"), 32
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]
    for number, (outputs, stride) in enumerate(plan, start=2):
        net.section(f"Block {number}: {channels} to {outputs} channels{', half the size' if stride == 2 else ''}.")
        step = {"stride": stride} if stride > 1 else {}
        net.conv(f"conv{number}_dw", top, channels, 3, pad=1, **step, group=channels, bias_term=False, relu=False)
        net.norm(f"conv{number}_dw")
        net.conv(f"conv{number}_pw", f"conv{number}_dw", outputs, 1, bias_term=False, relu=False)
        top, channels = net.norm(f"conv{number}_pw"), outputs
    net.section("Classifier.")
    top = net.layer("pool", "Pooling", top, "pool", pooling_param={"pool": AVE, "global_pooling": True})
    net.verdict(net.dense("fc", top, 1000))
    return net.text()


def siamese() -> str:
    net = Net(
        "Siamese",
        [
            "A siamese net for pairs of grey images of 28 x 28 pixels: alike or not.",
            "After R. Hadsell et al., Dimensionality Reduction by Learning an Invariant Mapping, 2006.",
            "Both halves have the same weights: their parameters go by the same names. 431,102 parameters.",
        ],
    )
    net.section("Data: pairs as images of two channels, with 1 for alike and 0 for different, in 'sim'.")
    for rule, source, batch in ((IN_TRAINING, "pairs_train_lmdb", 64), (IN_TESTS, "pairs_test_lmdb", 100)):
        net.layer(
            "pair_data",
            "Data",
            [],
            ["pair_data", "sim"],
            include=rule,
            transform_param={"scale": 0.00390625},
            data_param={"source": source, "backend": LMDB, "batch_size": batch},
        )
    net.layer(
        "slice_pair",
        "Slice",
        "pair_data",
        ["data", "data_p"],
        include=WITH_LABELS,
        slice_param={"axis": 1, "slice_point": 1},
    )
    net.input("data", [1, 1, 28, 28])
    net.input("data_p", [1, 1, 28, 28])
    fill = {"weight_filler": {"type": "xavier"}}
    for end, words in (("", "The first half."), ("_p", "The second half, with the weights of the first.")):
        net.section(words)

        def shared(name: str) -> list[dict[str, object]]:
            return [{"name": f"{name}_w", "lr_mult": 1}, {"name": f"{name}_b", "lr_mult": 2}]

        top = net.conv(f"conv1{end}", f"data{end}", 20, 5, relu=False, param=shared("conv1"), **fill)
        top = net.pool(f"pool1{end}", top, 2, 2)
        top = net.conv(f"conv2{end}", top, 50, 5, relu=False, param=shared("conv2"), **fill)
        top = net.pool(f"pool2{end}", top, 2, 2)
        net.dense(f"ip1{end}", top, 500, param=shared("ip1"))
        net.relu(f"ip1{end}")
        net.dense(f"ip2{end}", f"ip1{end}", 10, param=shared("ip2"))
        net.dense(f"feat{end}", f"ip2{end}", 2, param=shared("feat"))
    net.section("Verdict: alike images come close to each other, different ones at least as far apart as the margin.")
    net.layer(
        "loss",
        "ContrastiveLoss",
        ["feat", "feat_p", "sim"],
        "loss",
        include=WITH_LABELS,
        contrastive_loss_param={"margin": 1},
    )
    net.layer(
        "difference", "Eltwise", ["feat", "feat_p"], "difference", include=DEPLOYED, eltwise_param={"coeff": [1, -1]}
    )
    return net.text()
