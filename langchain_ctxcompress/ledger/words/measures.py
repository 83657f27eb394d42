"""Words that stand beside values and say what they are: months, days, currencies, units, names of codes."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BRANCH_HEADS = _words(
    """
    feature feat fix bugfix hotfix release releases chore refactor docs test users dev spike ci
    """
)
MONTHS: dict[str, int] = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero gennaio janeiro januari stycznia января янв ocak",
            "february feb februar février fevrier febrero febbraio fevereiro februari lutego февраля şubat",
            "march mar märz marz mars marzo março maart marca марта mart",
            "april apr avril abril aprile kwietnia апреля nisan",
            "may mai mayo maggio maio mei maj maja мая mayıs",
            "june jun juni juin junio giugno junho czerwca июня haziran",
            "july jul juli juillet julio luglio julho lipca июля temmuz",
            "august aug août aout agosto augustus augusti sierpnia августа ağustos",
            "september sep sept septembre septiembre settembre setembro września сентября eylül",
            "october oct oktober okt octobre octubre ottobre outubro oktober października октября ekim",
            "november nov novembre noviembre novembro listopada ноября kasım",
            "december dec dezember dez décembre decembre diciembre dicembre dezembro desember grudnia декабря aralık",
        ),
        start=1,
    )
    for name in names.split()
}
DAYS = _words(
    """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays
    sundays montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs donnerstags
    freitags samstags sonntags lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves
    viernes sábado domingo lunedì martedì mercoledì giovedì venerdì sabato domenica segunda-feira terça-feira
    quarta-feira quinta-feira sexta-feira maandag dinsdag woensdag donderdag vrijdag zaterdag zondag понедельник
    вторник среда среду четверг пятница пятницу суббота субботу воскресенье
    """
)
NAMED = DAYS | frozenset(MONTHS)
CURRENCY_WORDS = _words(
    """
    dollar dollars euro euros eur usd gbp chf pound pounds franc francs franken yen rubel рублей рубля евро долларов
    kronor kr zł złotych dólares dolares reais pesos libras quid bucks cents lira real
    """
)
UNIT_KINDS = dict.fromkeys([*CURRENCY_WORDS, *"$€£¥₽"], "amount") | dict.fromkeys(
    ("%", "percent", "prozent"), "percent"
)
CURRENCY_BEFORE = CURRENCY_WORDS | frozenset("$€£¥")
HOUR_WORDS = frozenset(["am", "pm", "a.m", "p.m", "a.m.", "p.m.", "uhr", "o'clock", "heures", "uur", "часов"])
ERROR_WORDS = _words(
    """
    error code fehler fehlercode erreur errore erro fout ошибка status http exit errno exception
    """
)
BRANCH_WORDS = frozenset(["branch", "branches", "zweig", "branche", "rama", "ramo", "tak", "ветка", "ветку"])
VERSION_WORDS = _words(
    """
    version versie versión versione versão версия python node java ruby postgres release v
    """
)
ABBREVIATIONS = frozenset(["e.g", "i.e", "a.m", "p.m", "z.b", "u.a", "d.h", "p.ej", "u.s", "n.b", "etc.", "o.k"])
