"""``python -m app`` is ``netcanvas``."""

from app.main import main

if __name__ == "__main__":
    raise SystemExit(main())
