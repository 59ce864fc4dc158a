"""Leakage audit: can labels be told from what is measured, from the sound's identity, or from the words alone?"""
