"""Nets with branches, shortcuts and memory: GoogLeNet, ResNet, U-Net, a character LSTM."""

from __future__ import annotations

from templates.writer import AVE, DEPLOYED, IN_TESTS, IN_TRAINING, TRAIN, WITH_LABELS, Net, Word


def googlenet() -> str:
    net = Net(
        "GoogLeNet",
        [
            "GoogLeNet (Inception, version 1) for colour images of 224 x 224 pixels and 1,000 classes.",
            "After C. Szegedy et al., Going Deeper with Convolutions, 2014. 6,998,552 parameters, and 6,379,728 more",
            "in the two helping classifiers, which take part in training only.",
        ],
    )
    net.images(224, 32)
    fill = {"weight_filler": {"type": "xavier"}, "bias_filler": {"type": "constant", "value": 0.2}}
    lrn = {"local_size": 5, "alpha": 0.0001, "beta": 0.75}

    def conv(name: str, bottom: str, outputs: int, kernel: int, **more: int) -> str:
        return net.conv(name, bottom, outputs, kernel, **more, **fill)

    def inception(name: str, bottom: str, sizes: tuple[int, int, int, int, int, int]) -> str:
        one, reduce3, three, reduce5, five, project = sizes
        net.section(f"Inception {name}: four branches side by side, {one + three + five + project} channels together.")
        parts = [conv(f"{name}_1x1", bottom, one, 1)]
        parts.append(conv(f"{name}_3x3", conv(f"{name}_3x3_reduce", bottom, reduce3, 1), three, 3, pad=1))
        parts.append(conv(f"{name}_5x5", conv(f"{name}_5x5_reduce", bottom, reduce5, 1), five, 5, pad=2))
        pooled = net.pool(f"{name}_pool", bottom, 3, 1, pad=1)
        parts.append(conv(f"{name}_pool_proj", pooled, project, 1))
        return net.layer(f"{name}", "Concat", parts, name)

    def helper(number: int, bottom: str) -> None:
        name = f"loss{number}"
        net.section(f"Helping classifier {number}: brings gradients to the layers below; in training only.")
        rule = {"include": {"phase": TRAIN}}
        net.layer(
            f"{name}_pool",
            "Pooling",
            bottom,
            f"{name}_pool",
            **rule,
            pooling_param={"pool": AVE, "kernel_size": 5, "stride": 3},
        )
        net.layer(
            f"{name}_conv", "Convolution", f"{name}_pool", f"{name}_conv", **rule,
            convolution_param={"num_output": 128, "kernel_size": 1, **fill},
        )  # fmt: skip
        net.layer(f"{name}_conv_relu", "ReLU", f"{name}_conv", f"{name}_conv", **rule)
        net.dense(f"{name}_fc", f"{name}_conv", 1024, **rule)
        net.layer(f"{name}_fc_relu", "ReLU", f"{name}_fc", f"{name}_fc", **rule)
        net.layer(
            f"{name}_fc_drop", "Dropout", f"{name}_fc", f"{name}_fc", **rule, dropout_param={"dropout_ratio": 0.7}
        )
        net.dense(f"{name}_classifier", f"{name}_fc", 1000, **rule)
        net.layer(name, "SoftmaxWithLoss", [f"{name}_classifier", "label"], name, loss_weight=0.3, **rule)

    net.section("Stem.")
    top = net.pool("pool1", conv("conv1", "data", 64, 7, pad=3, stride=2), 3, 2)
    top = net.layer("norm1", "LRN", top, "norm1", lrn_param=lrn)
    top = conv("conv2", conv("conv2_reduce", top, 64, 1), 192, 3, pad=1)
    top = net.pool("pool2", net.layer("norm2", "LRN", top, "norm2", lrn_param=lrn), 3, 2)
    top = inception("inception_3a", top, (64, 96, 128, 16, 32, 32))
    top = inception("inception_3b", top, (128, 128, 192, 32, 96, 64))
    top = inception("inception_4a", net.pool("pool3", top, 3, 2), (192, 96, 208, 16, 48, 64))
    helper(1, top)
    top = inception("inception_4b", top, (160, 112, 224, 24, 64, 64))
    top = inception("inception_4c", top, (128, 128, 256, 24, 64, 64))
    top = inception("inception_4d", top, (112, 144, 288, 32, 64, 64))
    helper(2, top)
    top = inception("inception_4e", top, (256, 160, 320, 32, 128, 128))
    top = inception("inception_5a", net.pool("pool4", top, 3, 2), (256, 160, 320, 32, 128, 128))
    top = inception("inception_5b", top, (384, 192, 384, 48, 128, 128))
    net.section("Classifier.")
    top = net.layer("pool5", "Pooling", top, "pool5", pooling_param={"pool": AVE, "global_pooling": True})
    net.dropout(top, 0.4)
    net.verdict(net.dense("classifier", top, 1000))
    return net.text()


def _resnet(name: str, about: list[str], counts: tuple[int, ...], *, bottleneck: bool, batch: int) -> str:
    net = Net(name, about)
    net.images(224, batch, test_batch=25)
    net.section("Stem.")
    net.conv("conv1", "data", 64, 7, pad=3, stride=2, bias_term=False, relu=False)
    net.norm("conv1")
    top, channels = net.pool("pool1", "conv1", 3, 2), 64

    def conv(blob: str, bottom: str, outputs: int, kernel: int, stride: int = 1, *, relu: bool = True) -> str:
        more = {**({"pad": kernel // 2} if kernel > 1 else {}), **({"stride": stride} if stride > 1 else {})}
        net.conv(blob, bottom, outputs, kernel, **more, bias_term=False, relu=False)
        return net.norm(blob, relu=relu)

    for stage, count in enumerate(counts, start=2):
        width = 64 * 2 ** (stage - 2)
        outputs = 4 * width if bottleneck else width
        for number in range(count):
            block = f"res{stage}{chr(ord('a') + number)}"
            stride = 2 if number == 0 and stage > 2 else 1
            net.section(f"Block {block}: {channels} to {outputs} channels{', half the size' if stride == 2 else ''}.")
            shortcut = top
            if stride > 1 or channels != outputs:
                shortcut = conv(f"{block}_shortcut", top, outputs, 1, stride, relu=False)
            if bottleneck:
                conv(f"{block}_a", top, width, 1, stride)
                conv(f"{block}_b", f"{block}_a", width, 3)
                conv(f"{block}_c", f"{block}_b", outputs, 1, relu=False)
                last = f"{block}_c"
            else:
                conv(f"{block}_a", top, width, 3, stride)
                last = conv(f"{block}_b", f"{block}_a", width, 3, relu=False)
            top = net.layer(block, "Eltwise", [shortcut, last], block, eltwise_param={"operation": Word("SUM")})
            net.relu(block)
            channels = outputs
    net.section("Classifier.")
    top = net.layer("pool5", "Pooling", top, "pool5", pooling_param={"pool": AVE, "global_pooling": True})
    net.verdict(net.dense("fc1000", top, 1000))
    return net.text()


_PAPER = "After K. He et al., Deep Residual Learning for Image Recognition, 2015."
_RUNNING = "running means and variances are not counted."


def resnet18() -> str:
    about = ["ResNet-18 for colour images of 224 x 224 pixels and 1,000 classes.", _PAPER]
    about.append(f"A block adds what it learned to what it was given. 11,689,512 parameters; {_RUNNING}")
    return _resnet("ResNet-18", about, (2, 2, 2, 2), bottleneck=False, batch=64)


def resnet50() -> str:
    about = ["ResNet-50 for colour images of 224 x 224 pixels and 1,000 classes.", _PAPER]
    about.append(f"Blocks of three: narrow, filter, widen. 25,557,032 parameters; {_RUNNING}")
    return _resnet("ResNet-50", about, (3, 4, 6, 3), bottleneck=True, batch=32)


def unet() -> str:
    net = Net(
        "U-Net",
        [
            "U-Net for grey images of 256 x 256 pixels: a class, of two, for each pixel.",
            "After O. Ronneberger et al., U-Net: Convolutional Networks for Biomedical Image Segmentation, 2015, with",
            "padding, so that the result is as large as the image. 31,030,658 parameters.",
            "Height and width of the images have to be multiples of 16.",
        ],
    )
    net.section("Data: HDF5 files with 'data' (N, 1, 256, 256) and 'label' (N, 1, 256, 256), listed in a text file.")
    for rule, source, batch in ((IN_TRAINING, "train_files.txt", 4), (IN_TESTS, "test_files.txt", 1)):
        net.layer(
            "data",
            "HDF5Data",
            [],
            ["data", "label"],
            include=rule,
            hdf5_data_param={"source": source, "batch_size": batch},
        )
    net.input("data", [1, 1, 256, 256])

    def pair(name: str, bottom: str, outputs: int) -> str:
        return net.conv(f"{name}_b", net.conv(f"{name}_a", bottom, outputs, 3, pad=1), outputs, 3, pad=1)

    top, kept = "data", []
    for level in range(1, 5):
        net.section(f"Down, level {level}: {64 * 2 ** (level - 1)} channels.")
        kept.append(pair(f"down{level}", top, 64 * 2 ** (level - 1)))
        top = net.pool(f"pool{level}", kept[-1], 2, 2)
    net.section("Bottom: 1,024 channels.")
    top = pair("bottom", top, 1024)
    net.dropout(top, 0.5)
    for level in range(4, 0, -1):
        outputs = 64 * 2 ** (level - 1)
        net.section(f"Up, level {level}: twice the size, beside what was kept on the way down.")
        net.layer(
            f"up{level}", "Deconvolution", top, f"up{level}",
            convolution_param={"num_output": outputs, "kernel_size": 2, "stride": 2, "weight_filler": {"type": "msra"}},
        )  # fmt: skip
        net.relu(f"up{level}")
        net.layer(f"join{level}", "Concat", [kept[level - 1], f"up{level}"], f"join{level}")
        top = pair(f"merge{level}", f"join{level}", outputs)
    net.section("Verdict: scores of two classes for each pixel.")
    scores = net.conv("score", top, 2, 1, relu=False)
    net.layer("loss", "SoftmaxWithLoss", [scores, "label"], "loss", include=WITH_LABELS)
    net.layer("accuracy", "Accuracy", [scores, "label"], "accuracy", include=IN_TESTS)
    net.layer("prob", "Softmax", scores, "prob", include=DEPLOYED)
    return net.text()


def char_lstm() -> str:
    net = Net(
        "CharLSTM",
        [
            "A net that learns text letter by letter: from the letters so far it tells the next.",
            "After S. Hochreiter and J. Schmidhuber, Long Short-Term Memory, 1997, and A. Graves, Generating Sequences",
            "With Recurrent Neural Networks, 2013. 128 letters (ASCII), 64 steps, two layers of 256 cells.",
            "895,104 parameters.",
        ],
    )
    net.section(
        "Data: 'data' and 'label' (64 steps, batch) hold codes of letters; 'cont' is 0 where a text begins, else 1."
    )
    for rule, source, batch in ((IN_TRAINING, "train_files.txt", 64), (IN_TESTS, "test_files.txt", 64)):
        net.layer(
            "data", "HDF5Data", [], ["data", "cont", "label"], include=rule,
            hdf5_data_param={"source": source, "batch_size": batch},
        )  # fmt: skip
    net.input("data", [64, 1])
    net.input("cont", [64, 1])
    even = {"type": "uniform", "min": -0.08, "max": 0.08}
    net.section("Letters become points in a space of 64 dimensions.")
    top = net.layer(
        "embed", "Embed", "data", "embed",
        embed_param={"input_dim": 128, "num_output": 64, "bias_term": False, "weight_filler": even},
    )  # fmt: skip
    net.section("Memory: each layer remembers over the steps; 'cont' makes it forget.")
    for name in ("lstm1", "lstm2"):
        top = net.layer(
            name,
            "LSTM",
            [top, "cont"],
            name,
            recurrent_param={"num_output": 256, "weight_filler": even, "bias_filler": {"type": "constant"}},
        )
    net.section("Verdict: scores of the next letter at each step; axis 2 holds the letters.")
    net.layer(
        "score", "InnerProduct", top, "score",
        inner_product_param={"num_output": 128, "weight_filler": even, "axis": 2},
    )  # fmt: skip
    axis = {"axis": 2}
    net.layer("loss", "SoftmaxWithLoss", ["score", "label"], "loss", include=WITH_LABELS, softmax_param=axis)
    net.layer("accuracy", "Accuracy", ["score", "label"], "accuracy", include=IN_TESTS, accuracy_param=axis)
    net.layer("prob", "Softmax", "score", "prob", include=DEPLOYED, softmax_param=axis)
    return net.text()
