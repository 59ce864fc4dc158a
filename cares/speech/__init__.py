"""Speech: voices, text-to-speech engines, broken-off sentences, checks by a recogniser, and words in time."""
