"""How long the layers of a net take: the measuring, and a process of its own to do it in."""

from engine.timing.client import TimingProcess, TimingRequest
from engine.timing.times import LayerTimes, NetTimes, Spread

__all__ = ["LayerTimes", "NetTimes", "Spread", "TimingProcess", "TimingRequest"]
