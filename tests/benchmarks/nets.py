"""Nets of any size for benchmarks, in the shapes of residual and inception nets."""

from __future__ import annotations

__all__ = ["residual_net"]


class _Writer:
    def __init__(self) -> None:
        self.parts: list[str] = ['name: "benchmark"']
        self.count = 0

    def layer(self, kind: str, bottoms: list[str], fields: str = "", top: str = "") -> str:
        self.count += 1
        name = f"{kind.lower()}{self.count}"
        top = top or name
        lines = [f'layer {{\n  name: "{name}"\n  type: "{kind}"']
        lines += [f'  bottom: "{bottom}"' for bottom in bottoms]
        lines.append(f'  top: "{top}"')
        if fields:
            lines.append(f"  {fields}")
        self.parts.append("\n".join(lines) + "\n}")
        return top

    def conv(self, bottom: str, channels: int, size: int, *, relu: bool = True) -> str:
        fields = f"convolution_param {{ num_output: {channels} kernel_size: {size} pad: {size // 2} }}"
        top = self.layer("Convolution", [bottom], fields)
        return self.layer("ReLU", [top], top=top) if relu else top


def residual_net(count: int) -> str:
    """Return prototxt of about ``count`` layers: residual blocks with an inception block now and then."""
    net = _Writer()
    blob = net.layer("Input", [], "input_param { shape { dim: 1 dim: 16 dim: 32 dim: 32 } }")
    block = 0
    while net.count < count - 12:
        block += 1
        if block % 6 == 0:
            branches = [net.conv(blob, 4, 1), net.conv(net.conv(blob, 4, 1), 4, 3), net.conv(blob, 4, 3)]
            pooled = net.layer("Pooling", [blob], "pooling_param { pool: MAX kernel_size: 3 stride: 1 pad: 1 }")
            branches.append(net.conv(pooled, 4, 1))
            blob = net.layer("Concat", branches)
        else:
            inner = net.conv(net.conv(net.conv(blob, 4, 1), 4, 3), 16, 1, relu=False)
            joined = net.layer("Eltwise", [inner, blob])
            blob = net.layer("ReLU", [joined], top=joined)
    while net.count < count:
        blob = net.layer("Pooling", [blob], "pooling_param { pool: AVE kernel_size: 1 stride: 1 }")
    return "\n".join(net.parts) + "\n"
