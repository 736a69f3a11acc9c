"""English words that house tests judge names by: past participles, and verbs that look like one."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IRREGULAR = words(
    """
    arisen awoken beaten become been begun bent bereft beset bitten bled blown borne born bought bred broken brought built
    burnt caught chosen clung crept dealt done drawn driven drunk dug eaten fallen fed felt fled flown flung forbidden
    forgiven forgotten fought found frozen given gone grown heard held hidden hung kept knelt known laid lain leant learnt
    led left lent lit lost made meant met paid proven ridden risen rung said sat seen sent sewn shaken shed shone shown
    shrunk slain slept slid slung sold sought sown spelt spent spilt spoken sprung spun stolen stood stricken struck strung
    stuck stung sunk swept sworn swollen swum swung taken taught thought thrown told torn trodden understood woken won
    worn woven written wrung
    """
)
"""Past participles that do not end in -ed. Not here: `bound` and `ground`, which are nouns of the field."""

SAME_AS_VERB = words(
    """
    become beset bid burst cast come cost cut fit hit hurt let overcome put quit read reread reset rid run set shed shut
    split spread
    """
)
"""Participles that are also the verb itself: a function may be called so."""

NO_PARTICIPLE = words(
    "bed bleed breed embed exceed feed heed hundred indeed need present proceed red seed speed succeed weed"
)
"""Words that look like a participle and are verbs or nouns."""

PREFIXES = ("fore", "inter", "mis", "out", "over", "pre", "re", "un", "under", "up", "with", "in")

PREPOSITIONS = words(
    """
    about above across after against along among apart around as at before behind below beneath beside between beyond by
    despite down during except for from in inside into near of off on onto out outside over past per since than through
    throughout to together toward towards under until up upon via with within without
    """
)
"""Prepositions, and the adverbs of place that stand for one."""


ADVERBS = words(
    """
    again alike alone also anew away back beforehand elsewhere enough ever exactly first here how last likewise never not
    now often once only otherwise plainly safely then there thus twice whole
    """
)

QUANTITIES = words(
    """
    all any big each enough few fewest fine greatest half huge large largest least less limit little long longest many max
    maximum min minimum more most much narrow own rare short shortest small smallest some tiny too wide widest
    """
)
"""Words of amount that do not say of what."""

KINDS = words("generalized anatomized perturbed transformed sampled")
"""The five kinds of release: nouns here, though participles elsewhere."""


def is_participle(word: str) -> bool:
    """Whether a word is a past participle and not also the base form of its verb."""
    if word in SAME_AS_VERB or word in NO_PARTICIPLE:
        return False
    if word in IRREGULAR or (word.endswith("ed") and len(word) > 3):
        return True
    stems = [word.removeprefix(prefix) for prefix in PREFIXES if word.startswith(prefix)]
    return any(stem in IRREGULAR and stem not in SAME_AS_VERB for stem in stems)


def name_words(name: str) -> list[str]:
    """The words of a name in snake case or camel case, in small letters."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def is_of_place_or_past(word: str) -> bool:
    return is_participle(word) or word in PREPOSITIONS


def says_no_thing(words_of_name: list[str]) -> bool:
    """Whether a name is a participle or a preposition, alone or with adverbs and others of them: `told`, `at`, `laid_over`."""
    return any(map(is_of_place_or_past, words_of_name)) and all(
        is_of_place_or_past(word) or word in ADVERBS for word in words_of_name
    )


def first_word(name: str) -> str:
    """The first word of a name in snake case, leading underscores aside."""
    return name.lstrip("_").split("_")[0].lower()


def begins_with_participle(name: str) -> bool:
    """Whether a name is a participle, bare or with a preposition or noun after it: `told`, `laid_in`, `held_rows`."""
    return first_word(name) not in KINDS and is_participle(first_word(name))
