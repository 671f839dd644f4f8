"""The Qt application: window, canvas, panels and the commands behind every edit."""
