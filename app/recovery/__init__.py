"""What is kept of unsaved nets while the program runs, and offered after a crash."""

from app.recovery.keeper import RecoveryKeeper
from app.recovery.store import RecoveryStore

__all__ = ["RecoveryKeeper", "RecoveryStore"]
