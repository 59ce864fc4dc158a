"""Which fault an utterance has, by what was measured and heard in it, against the thresholds of the section `speech`.

Each kind has its name, under which it is counted and told. `truncated_start` and `truncated_end`: speech up to the
edge, the engine began late or stopped early; `pause_inside`; `too_short`, `too_long`: a pace that nobody has;
`number_lost`, `repeated`, `runs_on`, `start_lost`, `end_lost`, `misheard`: other words than the text's. How the
thresholds were found: docs/speech.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from cares.asr.wer import WordErrors
from cares.core.pcm import SAMPLE_RATE
from cares.speech.heard import differences
from cares.speech.hearing import lost_numbers
from cares.speech.measures import Measures, count_letters
from cares.speech.params import SpeechParams

# an utterance of a word or two has room for breath and attack beyond the pace of its letters
EXTRA_SECONDS = 1.0
# the aligner hears one window of 30 s
LONGEST_SECONDS = 30.0


def fault_of_measures(measures: Measures, n_samples: int, words: Sequence[str], params: SpeechParams) -> str:
    """Name of what is wrong with trimmed speech of `n_samples` that should say `words`, or ""."""
    if measures.start_db > params.max_start_db:
        return "truncated_start"
    if measures.end_db > params.max_end_db:
        return "truncated_end"
    if measures.pause_ms > params.max_pause_ms:
        return "pause_inside"
    return fault_of_pace(measures, n_samples, words, params)


def fault_of_pace(measures: Measures, n_samples: int, words: Sequence[str], params: SpeechParams) -> str:
    """`too_short`, `too_long` or "", by the time that the letters took, pauses apart."""
    letters = count_letters(words)
    slowest, fastest = params.letters_per_second
    seconds = letters / measures.letters_per_s if measures.letters_per_s > 0 else 0.0
    if seconds < letters / fastest:
        return "too_short"
    long = seconds > letters / slowest + EXTRA_SECONDS or n_samples > LONGEST_SECONDS * SAMPLE_RATE
    return "too_long" if long else ""


def fault_of_words(wanted: Sequence[str], heard: str, errors: WordErrors, cut: bool, params: SpeechParams) -> str:
    """Name of what is wrong with the words that were heard, or "".

    `misheard` when more than the allowed share of the words is wrong; one wrong word is always allowed: names,
    interjections and the last word before a cut are often written in another way than they are said, and in an
    utterance of two words that is half of it. What an engine does wrong would pass as such a word, or as a few in a
    long sentence, and is looked for by itself; at a cut, what stands at the end is not.
    """
    if not heard.strip():
        return "misheard"
    if lost_numbers(wanted, heard):
        return "number_lost"
    found = differences(wanted, heard)
    if found.repeated:
        return "repeated"
    if found.words_after > params.max_words_after and not cut:
        return "runs_on"
    if found.end_lost > params.max_end_words_lost and not cut:
        return "end_lost"
    if found.start_lost > params.max_start_words_lost:
        return "start_lost"
    wrong = errors.substitutions + errors.deletions + errors.insertions
    return "misheard" if wrong > max(1.0, params.max_word_error_rate * errors.n_reference) else ""
