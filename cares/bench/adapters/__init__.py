"""Audio-language models that run in this process, each under a pinned revision."""
