"""What pages share: controls, cached engine calls, figures with captions, long runs."""
