"""Controls as data, those of toy data, presets and presentation mode."""
