"""Allocation: which sounds, reactions, place and people every scene has, before a word of it is written."""
