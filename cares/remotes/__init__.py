"""The finished data set between clones: pull a part of it, push it, see whether dvc.lock is what the code gives."""
