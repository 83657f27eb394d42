"""Closed-class words that link the parts of a sentence: prepositions, conjunctions, words for one more."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


JOINING = _words(
    """
    and but so because und aber weil denn et mais car y pero porque e perché mas maar want och ale bo ve и но
    """
)
"""Words that join two clauses."""

PREPOSITIONS = _words(
    """
    of for in on with without by from per under over at between during before after behind near inside outside
    für von vom mit ohne in im am an auf bei beim pro zum zur aus unter über hinter vor nach des der
    de du des pour avec sans par dans sur en chez sous avant après
    para por con sin del desde hasta entre sobre
    di del della dei delle per con senza nel nella sul da dal
    da dos das com sem na em
    van voor met zonder bij op uit
    för med utan av på till från vid
    dla z ze bez od w we na przy
    для из от с со без в во на у при за
    için ile
    को के की का में पर से لـ في من على مع بدون إلى عن عند
    """
)
"""Words that lead up to a part of a thing's name, articles in the genitive among them."""

LEADING = PREPOSITIONS - _words("der des das dos du de del di da do della delle dei") | _words(
    """
    wegen laut dank trotz gemäß due according thanks despite owing given selon grâce malgré à según debido gracias
    secondo grazie segundo devido volgens dankzij wegens enligt według dzięki согласно благодаря
    """
)
"""Words that lead up to the circumstances at the start of a sentence."""

FROM = _words("from ab dès desde da od vanaf från")
"""Words that say from when something holds, in front of a month."""

SINCE = _words("since seit depuis desde sinds sedan sedert с")
"""Words that say since when something holds."""

BOUNDS = _words(
    """
    before after until till from by over under above below vor nach bis ab über unter avant après jusqu'à dès antes
    después hasta desde prima dopo fino depois até voor na tot vanaf före efter przed po от до после
    """
)
"""Words that make a value a bound."""

WAYS_TO = PREPOSITIONS | _words("to at zu à a al alla ao aan till do к")
"""Words by which two things of one name differ: the train to and from a place."""

ADDITIVE = _words(
    """
    also another additionally second third other too besides further as-well auch ebenfalls weitere weiterer weiteres
    zweite zweiter zweites andere anderer anderes aussi autre deuxième second seconde également también otro otra
    segundo segunda además anche altro altra secondo seconda inoltre também outro outra ook andere tweede också annan
    andra även też także również drugi druga inny inna ayrıca başka ikinci тоже также ещё другой другая второй вторая
    أيضا آخر أخرى भी दूसरा दूसरी
    """
)
"""Words that say that there is one more thing."""

ADDITIVE_UNSPACED = ("也", "还有", "另外", "另一", "第二", "他に", "別の", "もう一", "二つ目")
