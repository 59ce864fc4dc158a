"""From allocated scenes to accepted dialogues: topics, skeleton-guided writing, lint, evaluation, acceptance."""
