"""Words that hint at what a sentence does: it directs, it forbids, it decides, it reports a failure.

They are closed-class words (modals, negations, quantifiers of time, politeness) of many languages: a hint that raises a
score, never a condition. A sentence without any of them is still scored by who said it and by what it carries.
"""

from __future__ import annotations

import re


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


DIRECTIVE_WORDS = _words(
    "always never must should shall only ever every each whenever unless except until avoid ensure prefer",
    "preferred rather remember forget note keep stop want need require required mustn't shouldn't don't dont",
    "cannot can't won't please henceforth onwards forward instead strictly exactly important mandatory forbidden",
    "allowed limit maximum minimum deadline budget rule policy goal aim default standard call named my our immer",
    "nie niemals muss müssen musst soll sollen sollte darf dürfen nur stets jedes jeder bitte kein keine keinen",
    "keinesfalls ausschließlich merke merk vergiss möchte will brauche lieber bevorzuge statt ohne bis spätestens",
    "höchstens mindestens wichtig künftig mein meine unser unsere toujours jamais doit dois devez faut seulement",
    "uniquement chaque évite évitez veuillez ne pas sauf sans avant veux voudrais préfère besoin désormais mon ma",
    "mes notre nos siempre nunca jamás debe debes deben solo sólo cada evita evite favor excepto salvo sin hasta",
    "quiero quisiera necesito prefiero partir máximo mínimo mi mis nuestro nuestra sempre mai deve devi devono",
    "ogni prego tranne senza entro voglio vorrei preferisco bisogno massimo mio mia devem apenas quero preciso",
    "prefiro sem até meu minha nosso nossa altijd nooit moet moeten mag alleen elke graag behalve zonder wil",
    "liever mijn onze geen alltid aldrig måste ska bara varje utan vill hellre min mitt vår inte ikke ikkje skal",
    "må kun aldri aina koskaan täytyy pitää vain älä ilman haluan zawsze nigdy musi musisz trzeba należy tylko",
    "każdy proszę bez chcę wolę mój moja nasz vždy nikdy musí pouze prosím chci mindig soha kell csak kérem",
    "nélkül her zaman asla gerek lazım sadece lütfen istiyorum olmadan întotdeauna niciodată trebuie doar fără",
    "vreau всегда никогда должен должна должны нужно нельзя надо только каждый пожалуйста без кроме хочу",
    "предпочитаю мой моя наш не завжди ніколи треба тільки будь ласка πάντα ποτέ πρέπει μόνο παρακαλώ χωρίς θέλω",
    "μην δεν دائما دائماً أبدا أبداً يجب فقط لا رجاء بدون أريد ممنوع همیشه هرگز باید لطفا תמיד לעולם חייב רק",
    "בבקשה בלי אל हमेशा कभी चाहिए केवल सिर्फ कृपया बिना मत नहीं 항상 절대 반드시 꼭 만 제발 없이 앞으로 말고 하지",
    "luôn không phải chỉ mỗi đừng selalu jangan harus hanya setiap tolong tanpa",
)

DIRECTIVE_SIGNS = re.compile(
    "必须|必須|务必|務必|不要|不得|不能|不可|禁止|总是|總是|始终|一律|从不|從不|永远|永遠|只能|只用|只要|以后|以後|今后|今後|"
    "记住|記住|请|請|别|別|勿|应该|應該|需要|希望|想要|我的|我们|我們|优先|"
    "常に|いつも|決して|絶対|必ず|ください|下さい|しないで|ないで|だけ|のみ|べき|ほしい|欲しい|たい|禁止|今後|"
    "마세요|말아|주세요|해야|십시오|ต้อง|ห้าม|อย่า|เสมอ|กรุณา"
)

DECISION_WORDS = _words(
    "decided decide decision chose chosen choose agreed agree approved confirmed confirm settled because",
    "therefore cause caused fixed fix solved resolved works passed passing succeeded done completed created",
    "changed modified updated added removed deleted cancelled canceled refunded booked transferred will won't",
    "instead unable cannot denied not entschieden beschlossen weil deshalb behoben gelöst bestätigt erledigt",
    "angelegt geändert gelöscht décidé choisi parce donc corrigé résolu confirmé terminé créé modifié supprimé",
    "decidido elegido porque corregido resuelto confirmado hecho creado cambiado eliminado deciso scelto perché",
    "risolto confermato решено решили потому исправлено готово подтверждено",
)

DECISION_SIGNS = re.compile("决定|決定|因为|因為|所以|原因|修复|修正|完成|确认|確認|選|选择|결정|때문|완료")

ERROR_SIGNS = re.compile(
    r"(?=[CEFIMTUcdefimnrtuéо错錯失エ오실])(?:"
    r"\b(?:(?:e(?:rro(?:re?)?|rreur|xception)|E(?:rror|RROR|xception)|f(?:ail(?:ed|ure)|ehlgeschlagen|all(?:o|ido))"
    r"|F(?:AIL(?:ED|URE)?|ail(?:ed|ure)|ehler)|refused|denied|time(?:d out|out)|not found|[Ii]nvalid|[Cc]annot"
    r"|[Uu]nable|[Mm]issing|éch(?:ec|oué)|ошибка)\b|Traceback\b)|E(?:rror|xception)\b"
    r"|错误|錯誤|失败|失敗|エラー|오류|실패)"
)
"""What an error line looks like: names of exception classes, and plain words for failure."""
