"""Closed-class words of French, Spanish, Italian, Portuguese."""

from __future__ import annotations

ROMANCE: dict[str, dict[str, str]] = {
    "fr": {
        "stop": """le la les l un une des du de d et ou mais car donc si que qui quoi dont où ce cet cette ces
            est sont était être a ont avait avoir à au aux en dans sur sous par pour avec sans chez vers il elle
            ils elles on se y ne pas plus c c'est s'il qu lui leur son sa ses comme très aussi bien encore même
            tout fait faire s'il_vous_plaît""",
        "universal": """toujours jamais chaque tous toutes tout toute seulement uniquement aucun aucune rien
            personne systématiquement exclusivement strictement à_chaque partout en_aucun_cas
            sous_aucun_prétexte en_aucune_circonstance en_aucune_façon à_aucun_moment sous_aucune_condition""",
        "scope": """désormais dorénavant à_partir_de_maintenant à_l'avenir à_partir_d'aujourd'hui jusqu sauf
            à_moins tant_que par_défaut en_général dès_que avant_de après_avoir jusqu'à quand_tu quand_vous
            lorsque""",
        "must": """dois doit devez doivent devons faut il_faut interdit obligatoire autorisé permis peux_pas
            peut_pas pouvons_pas peuvent_pas défense devrait devriez devrais impératif impérativement
            en_aucun_cas nécessaire besoin tenu exigé requis n'a_pas_le_droit avons_pas_le_droit droit""",
        "not": """pas ne n'est jamais aucun aucune rien sans éviter évite évitez arrête arrêtez ni n'utilise
            n'utilisez plus_jamais""",
        "prefer": """préfère préférons préfères préférence plutôt aime aimons j'aime déteste adore j'adore
            favori favorite allergique végétarien végétarienne végan au_lieu de_préférence mieux""",
        "limit": """maximum minimum au_plus au_moins max pas_plus_de limite plafond dépasser délai échéance
            budget avant au_plus_tard jusqu'au d'ici moins_de plus_de expire""",
        "self": "je j j'ai j'habite j'utilise mon ma mes moi me m nous notre nos",
        "you": "tu te toi ton ta tes vous votre vos",
        "aside": """au_fait d'ailleurs pour_info à_propos soit_dit_en_passant en_passant pour_information sache
            sachez petite_précision au_passage j'oubliais""",
        "mind": """rappelle-toi rappelez-vous souviens-toi n'oublie n'oubliez note notez attention important
            retiens retenez gardez""",
        "goal": "but objectif objectifs étape phase statut avancement bloqué priorité cible plan finalité",
        "decide": "décidé décision choisi convenu retenu opté",
        "ask": """peux-tu pouvez-vous pourriez-vous pourrais-tu est-ce quel quelle quels quelles comment
            pourquoi quand combien qui puis-je avez-vous as-tu qu'est-ce""",
        "ack": "oui non merci ok d'accord parfait bien super bonjour salut voilà entendu compris exactement",
        "feel": "malheureusement j'espère merci désolé désolée content déçu frustré aide aider",
        "past": "j'ai avons_été était étais avait a_été ai_reçu suis_allé viens_de",
        "now": "maintenant actuellement en_ce_moment aujourd'hui déjà encore tout_de_suite immédiatement",
        "update": """maintenant finalement plutôt changé changer change nouveau nouvelle nouvelles modifié
            correction en_fait désormais reporté déplacé remplace remplacé mets à_la_place augmenté réduit
            prolongé passe""",
        "instead": "au_lieu plutôt_que pas",
        "contrast": "mais à",
        "retract": """tu_peux_maintenant vous_pouvez_maintenant ne_plus n'est_plus plus_besoin plus_nécessaire
            annule tu_peux_désormais vous_pouvez_désormais tu_peux vous_pouvez plus_la_peine""",
        "forget": "oublie oubliez ignore ignorez laisse_tomber",
        "done": "terminé fait effectué succès annulé réservé créé envoyé confirmé résolu",
        "trouble": "marche_pas fonctionne_pas toujours_pas erreur faux encore_le",
        "want": "je_voudrais j'aimerais je_veux je_souhaite nous_voulons nous_aimerions",
        "please": "s'il svp merci_de veuillez",
        "rulehead": "règle règles consignes consigne contraintes important exigences préférences",
        "state": """suis est sommes sont habite vis travaille travaillons ai avons mange bois parle gère gérons
            s'occupe appelle responsable utilise utilisons dirige tient""",
        "norm": "interdit interdite obligatoire proscrit proscrite exclu hors_de_question inacceptable",
        "hold": """laisse laissez garde gardez conserve conservez arrête arrêtez cesse cessez traite traitez
            tiens-toi tenez-vous évite évitez""",
    },
    "es": {
        "stop": """el la los las un una unos unas de del al y e o u pero si que quien lo le les se su sus es son
            era fue ser está están ha han había en con por para sin sobre entre hasta desde como más muy también
            ya cuando donde esto esta este esa ese eso hay a no""",
        "universal": """siempre nunca jamás cada todos todas todo toda solo sólo solamente únicamente nada nadie
            ningún ninguna ninguno exclusivamente estrictamente bajo_ningún_concepto bajo_ninguna_circunstancia
            en_ningún_caso de_ninguna_manera de_ningún_modo en_ningún_momento por_ningún_motivo""",
        "scope": """a_partir_de_ahora de_ahora_en_adelante en_adelante desde_ahora en_el_futuro hasta salvo
            excepto a_menos mientras por_defecto en_general cuando_me antes_de cada_vez siempre_que""",
        "must": """debe deben debes debemos tiene_que tienen_que tienes_que tengo_que hay_que prohibido
            obligatorio permitido no_puede no_pueden no_podemos no_puedo debería deberías necesario
            imprescindible bajo_ningún_concepto requiere necesita puede aprobar autorización""",
        "not": "no nunca jamás sin evita evite evitar ningún ninguna nada deja_de dejes tampoco ni",
        "prefer": """prefiero preferimos prefiere preferencia mejor gusta gustan encanta odio favorito favorita
            en_vez_de en_lugar_de alérgico alérgica vegetariano vegetariana vegano vegana preferiblemente""",
        "limit": """máximo mínimo como_máximo al_menos como_mucho no_más_de límite tope presupuesto plazo
            antes_del antes_de a_más_tardar superar pasar_de exceder dentro_de menos_de más_de vence caduca""",
        "self": "yo mi mis me mí nosotros nuestro nuestra nuestros nuestras nos soy estoy tengo vivo trabajo",
        "you": "tú tu tus te usted ustedes",
        "aside": """por_cierto para_que_sepas a_propósito dicho_sea_de_paso para_tu_información que_sepas
            una_cosa de_paso""",
        "mind": """recuerda recuerde ten_en_cuenta tenga_en_cuenta importante no_olvides no_olvide anota fíjate
            ojo""",
        "goal": """objetivo objetivos meta metas fase hito estado progreso bloqueado prioridad propósito
            finalidad""",
        "decide": "decidido decisión decidimos acordado elegido elegimos quedamos",
        "ask": """puedes puede_usted podrías podría qué cuál cuáles cómo por_qué cuándo dónde cuánto quién puedo
            hay_alguna""",
        "ack": "sí gracias vale ok perfecto bien claro hola adiós entendido exacto genial de_acuerdo",
        "feel": "desgraciadamente espero gracias lo_siento feliz frustrado ayuda ayudar lamentablemente",
        "past": "he hemos fue fui estaba tenía compré recibí hice acabo_de intenté",
        "now": "ahora_mismo actualmente hoy ya todavía en_este_momento ahora",
        "update": """ahora mejor cambia cambiado cambiar cambio nuevo nueva corrección en_realidad finalmente
            ya_no movido aplazado sustituye pasa pásalo actualizado aumentado reducido ampliado pospuesto""",
        "instead": "en_vez en_lugar no",
        "contrast": "sino a",
        "retract": """ya_no ya_puedes ahora_puedes no_hace_falta no_es_necesario puedes puede_volver
            queda_anulado da_igual""",
        "forget": "olvida olvide ignora cancela",
        "done": "hecho completado terminado éxito cancelado reservado creado enviado confirmado resuelto listo",
        "trouble": "no_funciona sigue_sin error mal equivocado todavía_no",
        "want": "quiero quisiera me_gustaría necesito queremos",
        "please": "por_favor",
        "rulehead": "regla reglas requisitos restricciones importante preferencias normas instrucciones",
        "state": """soy es somos son estoy vivo vivimos trabajo trabajamos tengo tiene tenemos como bebo hablo
            llamo lleva encarga gestiona responsable uso usamos maneja""",
        "norm": "prohibido prohibida obligatorio obligatoria vetado vetada fuera_de_discusión inaceptable",
        "hold": """deja_de deje_de dejen_de dejad_de deja déjalo mantén mantenga mantengan conserva conserve
            trata_como evita evite""",
    },
    "it": {
        "stop": """il lo la i gli le un uno una di del della dei delle da dal in nel nella con su sul per tra
            fra a al alla e ed o ma se che chi cui non è sono era essere ha hanno aveva si ci ne come più molto
            anche già quando dove questo questa quello quella""",
        "universal": """sempre mai ogni tutti tutte tutto tutta solo soltanto solamente unicamente niente
            nessuno nessuna nulla esclusivamente in_nessun_caso per_nessun_motivo in_nessun_modo
            in_nessun_momento per_nessuna_ragione in_nessuna_circostanza""",
        "scope": """d'ora_in_poi da_ora_in_poi da_adesso in_futuro finché fino salvo tranne a_meno di_default
            in_generale prima_di ogni_volta da_oggi""",
        "must": """deve devono devi dobbiamo devo bisogna vietato obbligatorio permesso consentito non_può
            non_possono non_possiamo non_posso dovrebbe dovresti necessario assolutamente in_nessun_caso occorre
            serve richiesto""",
        "not": "non mai senza evita evitare evitate nessun nessuna niente smetti smettila né",
        "prefer": """preferisco preferiamo preferisce preferenza meglio piace piacciono adoro odio preferito
            preferita invece_di anziché allergico allergica vegetariano vegetariana vegano vegana
            preferibilmente""",
        "limit": """massimo minimo al_massimo almeno non_più_di limite tetto budget scadenza entro superare
            meno_di più_di prima_del scade""",
        "self": "io mio mia miei mie mi me noi nostro nostra nostri nostre ci sono ho vivo lavoro",
        "you": "tu tuo tua ti te lei suo voi vostro",
        "aside": "a_proposito comunque tra_l'altro per_inciso per_tua_informazione giusto_per una_cosa sappi",
        "mind": "ricorda ricordati tieni_presente tenga_presente importante non_dimenticare nota attenzione",
        "goal": "obiettivo obiettivi scopo fase traguardo stato progresso bloccato priorità meta",
        "decide": "deciso decisione abbiamo_scelto concordato scelto",
        "ask": "puoi può potresti potrebbe cosa quale quali come_mai perché quanto chi posso dov'è c'è",
        "ack": "sì no grazie ok va_bene perfetto bene certo ciao capito esatto d'accordo",
        "feel": "purtroppo spero grazie scusa mi_dispiace felice aiuto aiutare",
        "past": "ho_fatto ho_ricevuto ho_comprato era ero stato avevo abbiamo_fatto appena",
        "now": "adesso attualmente oggi ora subito ancora al_momento",
        "update": """ora adesso invece cambia cambiato cambiare nuovo nuova correzione in_realtà non_più
            spostato spostata rinviato sostituisce anzi aggiornato aumentato ridotto""",
        "instead": "invece_di anziché non",
        "contrast": "ma bensì a",
        "retract": "non_più ora_puoi adesso_puoi non_serve_più non_è_necessario puoi_di_nuovo",
        "forget": "dimentica ignora lascia_stare",
        "done": "fatto completato terminato successo cancellato prenotato creato inviato confermato risolto",
        "trouble": "non_funziona ancora_non errore sbagliato",
        "want": "vorrei voglio mi_piacerebbe vorremmo ho_bisogno",
        "please": "per_favore per_piacere",
        "rulehead": "regola regole requisiti vincoli importante preferenze istruzioni",
        "state": """sono è siamo vivo abito lavoro lavoriamo ho abbiamo ha mangio bevo parlo chiamo chiama
            gestisce occupa responsabile uso usiamo segue""",
        "norm": "vietato vietata obbligatorio obbligatoria proibito escluso fuori_discussione inaccettabile",
        "hold": """smetti smettila smetta smettete lascia lasci lasciate mantieni mantenga tieni tenga tratta
            tratti evita""",
    },
    "pt": {
        "stop": """o a os as um uma uns umas de do da dos das em no na nos nas por pelo pela para com sem sob
            sobre entre até e ou mas se que quem é são era foi ser está estão tem têm tinha ao à aos como mais
            muito também já quando onde isto isso este esta esse essa não lhe ele ela""",
        "universal": """sempre nunca jamais cada todos todas tudo toda todo só somente apenas nada ninguém
            nenhum nenhuma exclusivamente estritamente em_hipótese_alguma em_nenhuma_hipótese em_caso_algum
            em_nenhum_caso de_forma_alguma de_jeito_nenhum em_circunstância_alguma em_momento_algum
            em_nenhum_momento""",
        "scope": """a_partir_de_agora daqui_em_diante de_agora_em_diante doravante no_futuro até exceto salvo
            a_menos enquanto por_padrão em_geral antes_de sempre_que daqui_para_a_frente""",
        "must": """deve devem deves devemos tem_de tem_que têm_que temos_que temos_de proibido obrigatório
            permitido não_pode não_podem não_podemos não_posso deveria necessário preciso precisa
            em_hipótese_alguma obrigatoriamente""",
        "not": "não nunca jamais sem evite evita evitar nenhum nenhuma nada pare nem",
        "prefer": """prefiro preferimos prefere preferência melhor gosto gosta gostamos adoro odeio favorito
            favorita em_vez_de ao_invés alérgico alérgica vegetariano vegetariana vegano vegana
            preferencialmente""",
        "limit": """máximo mínimo no_máximo pelo_menos não_mais_de limite teto orçamento prazo até ultrapassar
            exceder menos_de mais_de antes_do vence expira passar_de""",
        "self": """eu meu minha meus minhas me mim nós nosso nossa nossos nossas nos sou estou tenho moro
            trabalho""",
        "you": "tu te teu tua você vocês seu sua",
        "aside": """a_propósito aliás já_agora por_falar_nisso para_sua_informação só_para_saberes só_para_saber
            uma_coisa""",
        "mind": """lembra-te lembre lembre-se tenha_em_mente importante não_esqueça não_se_esqueça nota anote
            atenção""",
        "goal": "objetivo objetivos meta metas fase marco estado progresso bloqueado prioridade propósito",
        "decide": "decidido decisão decidimos acordado escolhido escolhemos",
        "ask": """pode você_pode poderia podes o_que qual quais como_é por_que quando_é onde_é quanto quem posso
            há""",
        "ack": "sim obrigado obrigada ok certo perfeito bem claro olá tchau entendi exato beleza",
        "feel": "infelizmente espero obrigado desculpe feliz ajuda ajudar",
        "past": "fiz recebi comprei estava tinha fui acabei_de tentei",
        "now": "agora_mesmo atualmente hoje já ainda no_momento agora",
        "update": """agora afinal mude mudou mudar mudança novo nova correção na_verdade já_não não_mais movido
            adiado substitui passa em_vez_disso atualizado aumentado reduzido passou""",
        "instead": "em_vez ao_invés não",
        "contrast": "mas sim para",
        "retract": "já_não agora_pode agora_podes não_é_mais não_precisa já_pode já_podes",
        "forget": "esqueça esquece ignore deixa",
        "done": """feito concluído terminado sucesso cancelado reservado criado enviado confirmado resolvido
            pronto""",
        "trouble": "não_funciona ainda_não erro errado",
        "want": "quero queria gostaria preciso_de queremos",
        "please": "por_favor",
        "rulehead": "regra regras requisitos restrições importante preferências normas instruções",
        "state": """sou é somos moro vivo trabalho trabalhamos tenho tem temos como bebo falo chamo trata gere
            cuida responsável uso usamos""",
        "norm": "proibido proibida obrigatório obrigatória vedado vedada fora_de_questão inaceitável",
        "hold": "pare_de para_de parem_de deixe deixa deixe_de deixa_de mantenha mantém trate evite",
    },
}
