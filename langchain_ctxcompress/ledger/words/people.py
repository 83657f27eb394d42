"""Words for the people of a user: family, partners, households. What is so for them holds for long."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PEOPLE = _words(
    """
    wife husband partner spouse fiancé fiancée fiance fiancee girlfriend boyfriend son sons daughter daughters child
    children kid kids baby toddler twins mother mum mom father dad parents parent brother brothers sister sisters
    sibling siblings grandmother grandma granny grandfather grandpa grandparents grandson granddaughter grandchild
    grandchildren aunt uncle niece nephew cousin stepson stepdaughter godson goddaughter mother-in-law father-in-law
    brother-in-law sister-in-law son-in-law daughter-in-law eldest youngest family roommate flatmate
    frau mann partnerin ehefrau ehemann freundin freund sohn söhne tochter töchter kind kinder mutter vater eltern
    bruder brüder schwester schwestern oma opa großmutter großvater großeltern enkel enkelin tante onkel neffe nichte
    schwiegermutter schwiegervater familie
    femme mari conjoint conjointe compagnon compagne fils fille filles enfant enfants mère père parents frère frères
    sœur soeur grand-mère grand-père tante oncle neveu nièce belle-mère beau-père beau-frère belle-sœur famille
    mujer esposa marido esposo pareja novia novio hijo hijos hija hijas niño niña niños madre padre padres hermano
    hermana hermanos abuela abuelo abuelos nieto nieta tía tío sobrino sobrina suegra suegro cuñado cuñada familia
    moglie marito compagna compagno figlio figlia figli bambino bambina madre padre genitori fratello sorella nonna
    nonno nipote zia zio suocera suocero cognato cognata famiglia
    esposa mulher marido filho filha filhos filhas mãe pai pais irmão irmã avó avô neto neta tia tio sobrinho sobrinha
    sogra sogro cunhado cunhada família
    vrouw man zoon dochter kind kinderen moeder vader ouders broer zus oma opa schoonmoeder gezin
    fru make man son dotter barn mamma pappa mor far bror syster mormor farmor morfar farfar
    żona mąż syn córka dziecko dzieci matka ojciec rodzice brat siostra babcia dziadek
    жена муж жены мужа жене мужу сын сына сыну дочь дочери дочка дочки ребенок ребёнок ребенка ребёнка дети детей мать
    мама матери мамы отец папа отца папы родители родителей брат брата сестра сестры бабушка бабушки дедушка дедушки
    eşim oğlum kızım çocuğum annem babam kardeşim abim ablam anneannem babaannem dedem
    زوجتي زوجي ابني ابنتي ابنائي أولادي طفلي طفلتي أمي والدتي أبي والدي أخي أختي جدتي جدي خالتي عمي عمتي خالي
    पत्नी पति बेटा बेटी बेटे बेटियाँ बच्चा बच्चे माँ मां माता पिता पिताजी पापा मम्मी भाई बहन दादी दादा नानी नाना
    아내 남편 아들 딸 아이 엄마 아빠 어머니 아버지 할머니 할아버지 형 누나 오빠 언니 동생
    """
)
"""In languages that write the possessor into the word, those forms."""

PEOPLE_UNSPACED = _words(
    """
    妻子 老婆 太太 丈夫 老公 先生 儿子 女儿 孩子 妈妈 母亲 爸爸 父亲 父母 哥哥 弟弟 姐姐 妹妹 奶奶 爷爷 外婆 外公
    岳母 岳父 婆婆 公公 家人 妻 夫 息子 娘 子供 母 父 兄 姉 弟 妹 祖母 祖父 家族
    """
)
"""The same in Chinese and Japanese."""
