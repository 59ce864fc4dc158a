"""How well a topic fits what a transcript is about, for an evaluator that cannot put the topic into words.

Recovered is not a phrase but a direction: the mean embedding of the transcript's blocks of turns, without the turns
that belong to a pivot, since they are about the sound. The gold topic is compared to it by cosine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cares.dialogue.features import Encoder
from cares.dialogue.marked import Heard, Piece, Pieces, Said, spoken_turns
from cares.dialogue.probes import Probe, TopicPair

PIVOT_PIECES = 3  # what belongs to a pivot: the words after the sound and the next two turns
BLOCK_TURNS = 6  # a block of six turns stays within the length that the encoder was trained on


def topic_blocks(pieces: Pieces, pivots: Collection[int]) -> list[str]:
    """The talk apart from its pivots, in even blocks of at most six turns; all of the talk if nothing is left.

    Args:
        pieces: the transcript.
        pivots: event indices of the sounds that the talk turns to.
    """
    kept: list[Piece] = []
    skip = 0
    for piece in pieces:
        if isinstance(piece, Heard):
            skip = PIVOT_PIECES if piece.event in pivots else 0
        elif skip:
            skip -= 1
        else:
            kept.append(piece)
    turns = spoken_turns(tuple(kept)) or [piece.text for piece in pieces if isinstance(piece, Said)]
    count = -(-len(turns) // BLOCK_TURNS)
    return [" ".join(block) for block in np.array_split(np.array(turns, dtype=object), count)] if count else []


def topic_vector(pieces: Pieces, pivots: Collection[int], encoder: Encoder) -> NDArray[np.float64]:
    """Unit vector of what the transcript is about, [dimension]; zero when nothing is said."""
    mean = encoder.encode(topic_blocks(pieces, pivots) or [""]).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return np.asarray(mean / length if length > 0 else mean)


def topic_vectors(topics: Sequence[str], encoder: Encoder) -> NDArray[np.float64]:
    """Unit vectors of topic phrases, [len(topics), dimension].

    The phrase stands alone: on the train and dev pairs of topics a sentence around it ("Let's talk about …") draws all
    topics nearer to each other (area under the ROC curve 0.76 instead of 0.80).
    """
    return encoder.encode(topics)


def pair_cosines(
    pairs: Sequence[TopicPair], probes: Sequence[Probe], pivots: Mapping[str, Collection[int]], encoder: Encoder
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosines of transcripts with their topic in other words, and with a similar but different topic.

    They are what `topic_similarities` of the classifier gives for these pairs.

    Args:
        pairs: whose `other` topics are compared to the transcript of their probe.
        probes: among which each pair's probe is.
        pivots: for each probe the sounds, by event, that the evaluator takes for pivots.

    Returns:
        Cosines of the pairs that are the same, and of those that are not, each in the order of `pairs`.
    """
    pieces = {probe.id: probe.pieces for probe in probes}
    topics = topic_vectors([pair.other for pair in pairs], encoder)
    about = {name: topic_vector(pieces[name], pivots[name], encoder) for name in {pair.probe for pair in pairs}}
    cosines = np.array([topic @ about[pair.probe] for topic, pair in zip(topics, pairs, strict=True)])
    same = np.array([pair.same for pair in pairs], dtype=bool)
    return cosines[same], cosines[~same]
