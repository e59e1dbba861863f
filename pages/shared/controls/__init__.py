"""Controls as data, controls of toy data, presets and presentation mode."""
