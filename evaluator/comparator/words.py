"""The words of a text, and which English ones say little: stop words, the others are content words."""

from collections.abc import Sequence
from functools import lru_cache

SAYS_LITTLE = frozenset(
    """
    a about again ah all alright am and anyway are be believe but bye can cool could course did do does done dont exactly fine
    for get go good got great guess haha have hello here hey hi hm hmm hope how i idea if im interesting is it its just know
    like look maybe me mean much my nice no not nothing now nt of oh ok okay please pretty problem really right s say see
    shall should so sorry sounds sure t talk tell than thank thanks that thats the then there they think this to too true
    understand us very want was way we well welcome what whatever when where which who why will with would wow yeah yep yes
    yet you your
""".split()
)
STOP_WORDS = SAYS_LITTLE | frozenset(
    """
    above after against among an another any arent around as at because been before being below between both by cant d
    didnt doesnt doing don down during each either every few from further going had has having he her hers him himself his
    however ill in into isnt itself ive let lets ll m may might mine more most must myself near neither never next none nor
    off often on once one only onto or other our ours out over own per quite rather re same she since some something such
    their theirs them themselves these thing things those though through toward two under until up upon ve wasnt were
    werent whether while whom whose within without wont wouldnt youre yours yourself
""".split()
)  # about half of what people say, and few in a mere list of words
_PERSONS = {
    word: alike.split()[0]
    for alike in (
        "you i me we us",
        "your my our",
        "yours mine ours",
        "yourself myself ourselves",
        "are am re m",
        "youre im",
        "was were",
        "youve ive weve",
        "youd id wed",
        "youll ill",
    )
    for word in alike.split()
}


def words_of(text: str) -> list[str]:
    """Lower-case words; marks that hold no letter or digit are none."""
    spoken = lambda word: word if word.isalnum() else "".join(c for c in word if c.isalnum())
    found = map(spoken, text.casefold().split())
    return [word for word in found if word]


@lru_cache(maxsize=4096)
def turn_words(turn: str) -> list[str]:
    """The words of a turn: the outputs of a context share it."""
    return words_of(turn)


@lru_cache(maxsize=4096)
def impersonal_turn(turn: str) -> list[str]:
    return impersonal(turn_words(turn))


def impersonal(words: Sequence[str]) -> list[str]:
    """The words with "I" and "you" the same: "are you sure" said back is "am i sure"."""
    return [_PERSONS.get(word, word) for word in words]
