"""From words and sounds to finished files: loudness, fixed-point mixing, timelines, rendering."""
