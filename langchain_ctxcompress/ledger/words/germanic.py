"""Closed-class words of English, German, Dutch, Swedish."""

from __future__ import annotations

GERMANIC: dict[str, dict[str, str]] = {
    "en": {
        "stop": """am pm a an the of to in on at by for with from as and or but so if then than that this these
            those it its there here he she they them his her their him who which what is are was were be been
            being am do does did has have had i'm i've i'll i'd it's that's there's we're we've you're will
            would can could may might shall just very too also please make made get got into out up down about
            over again more most some such not no nor own same let let's one any all when while where how why
            after because both between during off once through under until isn't aren't thing things something
            anything need needs needed use uses used using want wants know knows having want wanted don't
            doesn't didn't won't can't""",
        "universal": """always never every each only whenever everytime every_time each_time all_the_time
            at_all_times no_matter exclusively solely strictly without_exception wherever consistently
            invariably permanently under_no_circumstances under_no_circumstance under_any_circumstances
            on_no_account on_any_account in_no_case in_no_event in_no_way at_no_point at_no_time at_no_stage
            by_no_means for_no_reason""",
        "wide": """all any anything everything nothing nobody anyone everyone ever none no_one whoever whatever
            whichever""",
        "scope": """from_now_on going_forward from_here_on from_here_on_out from_this_point in_future
            in_the_future henceforth
            for_the_rest for_the_remainder by_default for_now_on onwards onward as_a_rule in_general generally
            from_today starting_today for_good any_time anytime throughout moving_forward until_further_notice""",
        "condition": "until unless except as_long_as before_you after_you when_you if_you if i_say without_my",
        "must": """must mustn't should shouldn't have_to has_to need_to_be needs_to_be may_not not_allowed
            allowed permitted required mandatory forbidden prohibited supposed_to ought shall shan't obliged
            off-limits off_limits compulsory essential crucial vital needs_to needs required_to won't_work
            has_got_to under_no_circumstances non-negotiable nonnegotiable are_to is_to banned restricted insist
            insists bans forbids prohibits disallows is_out are_out expects subject_to stay_off
            stays_off stay_out stays_out
            ensure make_sure be_sure makes_sure sign_off signs_off approval approve approves refuse""",
        "not": """not no don't never doesn't isn't aren't can't cannot won't without avoid stop quit refrain
            nothing none shouldn't mustn't neither nor skip wouldn't rather_not leave_out hold_off stay_away
            steer_clear keep_away""",
        "prefer": """don't_want_to don't_want prefer prefers preferred preference preferably rather favourite
            favorite hate hates dislike dislikes love loves like likes enjoy enjoys can't_stand fan allergic
            intolerant instead_of rather_than vegetarian vegan favour favor ideally better_for suits
            comfortable_with big_on keen partial_to fond would_rather go-to works_best don't_mind""",
        "limit": """at_most at_least no_more_than no_less_than maximum minimum max min cap capped limit limited
            exceed exceeds under below within more_than less_than fewer_than up_to no_later_than not_after
            not_before before by_the deadline budget due latest earliest over hard_stop ceiling quota tops
            expires expire expiry no_earlier no_longer_than ends closes starts""",
        "self": "i i'm i've i'll i'd my me mine myself we we're we've we'll our ours us",
        "you": "you your yours you're you'll",
        "aside": """btw by_the_way fyi for_your_information just_so_you_know so_you_know incidentally
            for_the_record heads_up heads-up side_note on_a_side_note one_more_thing one_thing another_thing
            for_context for_what_it's_worth as_an_aside in_case oh_and while_i remember_it ps before_i_forget
            forgot_to should_mention should_have_mentioned should_add worth_knowing worth_mentioning unrelated
            to_be_clear quick_note just_a_note quick_reminder reminder context for_reference_only separately
            let_me_be_clear make_no_mistake""",
        "mind": """remember note keep_in_mind bear_in_mind important don't_forget be_aware please_note mind_that
            take_note make_a_note reminder aware""",
        "goal": """goal goals aim aims aiming objective target milestone phase purpose mission roadmap status
            progress end_state in_the_end ultimately blocked blocker on_hold in_progress outcome deliverable
            success milestone the_plan priority priorities finish_line step stage working_towards working_toward
            trying_to""",
        "decide": """decided decide decision settled settle agreed chose chosen going_with go_with opted opt
            picked let's_use we'll_use i'll_take went_with final_choice sticking_with""",
        "ask": """can_you could_you would_you will_you do_you are_you is_it is_there what which how why who
            when_is where may_i could_i can_i should_i can_we could_we shall_we have_you did_you are_there
            what's how's does do_i is_that is_this are_these what_else anything_else would_it will_it could_it
            can_it wondering""",
        "ack": """yes yep yeah no_thanks ok okay sure great perfect thanks thank got_it alright right exactly
            correct sounds_good no_problem understood fine awesome excellent wonderful nice cool hi hello hey
            bye goodbye good_morning welcome i_see i_understand that's_all that's_it nope cheers""",
        "feel": """frustrated frustrating worried nervous hope hoping sorry appreciate thanks thank happy glad
            upset disappointed confused annoyed excited grateful unfortunately concerned patience wonderful
            apologies disappointing relief relieved help assistance assist helping""",
        "past": """don't_remember can't_remember not_remember cannot_remember don't_recall can't_recall was were
            did didn't had got went saw said made took came tried found received ordered bought booked checked
            turned restarted i've we've have_been has_been i_just just noticed happened mentioned looked thought
            meant wanted needed lost forgot called sent paid showed told gave used been placed changed followed
            reset rebooted confirmed wasn't weren't ran set_up""",
        "now": """right_now currently at_the_moment today now yet still this_time for_now as_soon_as_possible
            asap immediately next i'll i_will proceed go_ahead move_forward soon already tonight this_morning
            here_is here's let_me""",
        "update": """instead changed change changes moved move update updated correction make_that make_it
            switch switched rather_than no_longer anymore any_more revised postponed pushed rescheduled extended
            raised lowered became becomes replaced replace scratch_that changed_my_mind i_meant bumped reduced
            increased increase shifted set_to amended as_of took_over takes_over renamed swap swapped
            second_thought second_thoughts
            bring_forward brought_forward is_now are_now 's_now now_is now_handles from_now_on cut dropped rose
            fell grew went_up went_down shortened doubled halved trimmed relocated rebooked transferred goes_up
            goes_down passed_to""",
        "shift": "now actually new after_all different sorry turns_out correct",
        "instead": "instead_of rather_than not in_place_of",
        "contrast": "but to",
        "retract": """no_longer any_longer can_stop may_stop can_skip can_drop
            can_now may_now can_again may_again anymore any_more doesn't_apply don't_need_to
            don't_have_to lifted cancel_the_rule it's_fine_to it's_ok_to it's_okay_to back_to_normal
            isn't_necessary not_necessary not_needed isn't_needed isn't_required not_required revoke revoked
            relaxed overruled obsolete void is_over go_back_to allowed_again fine_again ok_again okay_again
            fine_now ok_now okay_now allowed_now""",
        "forget": "forget ignore never_mind nevermind scrap disregard drop_the take_back taking_back",
        "done": """done completed complete successfully finished has_been have_been all_set fixed resolved
            created updated cancelled canceled booked sent confirmed added removed processed submitted placed
            issued applied now_works passing passed merged deployed""",
        "trouble": """still_not still_doesn't still_don't still_isn't still_can't still_won't not_working
            doesn't_work didn't_work isn't_working no_luck failed fails error wrong same_problem same_issue
            broken nope didn't_help did_you are_you_sure""",
        "want": """i'd_like i_would_like i_want i_need i_wish would_like want_to i'm_looking looking_for
            i'm_trying i'm_interested we'd_like we_need_to we_want""",
        "please": "please kindly",
        "rulehead": """rule rules guideline guidelines constraint constraints requirement requirements
            preference preferences policy policies convention conventions important ground_rules restrictions
            facts boundaries instructions standing""",
        "state": """am i'm is isn't are aren't live lives work works have haven't has own owns speak speaks know
            knows eat eats drink drinks handle handles manage manages run runs belong belongs need needs use
            uses want wants called named based responsible means stands_for goes_by contains covers reports
            takes allows we're he's she's it's doesn't don't wear wears keep keeps born married lives_in""",
        "norm": """mandatory compulsory obligatory forbidden prohibited off-limits off_limits off_the_table
            out_of_bounds out_of_the_question non-negotiable nonnegotiable taboo no-go unacceptable is_to_be
            are_to_be isn't_to_be aren't_to_be only_acceptable only_permitted only_allowed only_accepted
            only_valid""",
        "hold": "leave keep stick stay stop quit cease refrain treat hands_off steer_clear assume",
    },
    "de": {
        "stop": """der die das den dem des ein eine einen einem einer und oder aber denn weil dass daß wenn als
            wie ist sind war waren sein hat haben hatte wird werden wurde zu zum zur im in an am auf aus bei mit
            nach von vor über unter für um durch auch noch schon es er sie ihr ihm ihn sich so da dann doch mal
            bitte ja nicht kein keine keinen man hier dort was wer wo ob""",
        "universal": """immer nie niemals jedes jeder jede jeden jedem alle alles allen nur stets ausschließlich
            grundsätzlich jederzeit nichts niemand ausnahmslos jemals ausnahme überall auf_keinen_fall
            auf_gar_keinen_fall keinesfalls in_keinem_fall unter_keinen_umständen unter_gar_keinen_umständen
            auf_keine_weise zu_keinem_zeitpunkt""",
        "scope": """ab_jetzt ab_sofort künftig zukünftig in_zukunft von_nun_an ab_heute solange bis außer sofern
            es_sei_denn standardmäßig generell fortan weiterhin sobald bevor immer_wenn""",
        "must": """muss müssen musst sollte sollten sollst soll sollen darf dürfen darfst dürft kann_nicht
            können_nicht verboten erlaubt pflicht zwingend notwendig unbedingt vorgeschrieben untersagt
            auf_keinen_fall keinesfalls gilt müsste brauche braucht benötigt freigabe genehmigt""",
        "not": """nicht kein keine keinen keinem keiner nie niemals ohne nichts vermeide vermeiden weder stopp
            unterlass lass""",
        "prefer": """lieber bevorzuge bevorzugen bevorzugt mag mögen liebe hasse gern gerne ungern am_liebsten
            favorit statt anstatt anstelle allergisch vegetarier vegetarierin vegan vertrage vorzugsweise
            möglichst""",
        "limit": """höchstens mindestens maximal minimal maximum minimum nicht_mehr_als bis_zu limit grenze
            frist budget spätestens frühestens unter über innerhalb obergrenze deadline vor läuft_ab
            überschreiten""",
        "self": "ich mein meine meinen meinem meiner mich mir wir unser unsere unseren unserem unserer uns",
        "you": "du dein deine dir dich sie ihnen ihre ihr euch",
        "aside": """übrigens nebenbei apropos zur_info zur_information nur_damit_du_weißt nur_so fürs_protokoll
            ach_ja am_rande kleine_info nebenbei_bemerkt noch_was vergessen_zu""",
        "mind": """denk_daran denke_daran merk_dir merke beachte beachten wichtig vergiss_nicht bedenke achte
            hinweis""",
        "goal": """ziel ziele zweck meilenstein phase status fortschritt blockiert plan ergebnis priorität
            abschluss etappe""",
        "decide": "entschieden entscheidung beschlossen vereinbart festgelegt gewählt nehmen_wir bleibt_es_bei",
        "ask": """kannst_du können_sie könnten_sie könntest_du würdest_du haben_sie hast_du gibt_es wie warum
            wann wo welche welcher wer was ist_das kann_ich soll_ich darf_ich""",
        "ack": """ja nein danke ok okay gut super perfekt genau klar hallo tschüss verstanden prima alles_klar
            passt""",
        "feel": """leider hoffe danke freue tut_mir_leid entschuldigung frustriert vielen_dank schade hilfe
            helfen""",
        "past": """war waren hatte wurde habe_ich ich_habe haben_wir wir_haben gemacht gesagt bekommen bestellt
            gekauft versucht gesehen gegangen""",
        "now": "gerade momentan im_moment heute jetzt noch sofort derzeit aktuell bereits",
        "update": """jetzt nun doch stattdessen geändert ändern ändere verschoben verschiebe neu neue neuer
            neues aktualisiert korrektur eigentlich nicht_mehr sondern ersetzt wechsel erhöht gesenkt verlängert
            inzwischen mittlerweile mach_daraus umbenannt nunmehr""",
        "instead": "statt anstatt anstelle nicht",
        "contrast": "sondern auf",
        "retract": """nicht_mehr darfst_jetzt kannst_jetzt gilt_nicht aufgehoben hinfällig nicht_nötig
            brauchst_nicht musst_nicht darfst_wieder kannst_wieder darfst_nun egal erledigt_sich""",
        "forget": "vergiss ignoriere streich",
        "done": """erledigt fertig abgeschlossen erfolgreich wurde storniert gebucht erstellt aktualisiert
            gesendet behoben""",
        "trouble": "geht_nicht funktioniert_nicht immer_noch klappt_nicht fehler falsch kaputt leider_nicht",
        "want": "ich_möchte ich_will ich_würde ich_brauche wir_möchten ich_hätte",
        "please": "bitte",
        "rulehead": """regel regeln vorgaben vorgabe anforderungen wichtig merke hinweis hinweise
            einschränkungen""",
        "state": """bin ist sind wohne lebe arbeite habe hat haben heiße heißt spreche esse trinke kümmert
            verantwortlich zuständig gehört leitet betreut nutze nutzen brauche macht""",
        "norm": """pflicht verpflichtend obligatorisch verboten untersagt vorgeschrieben tabu ausgeschlossen
            unzulässig""",
        "hold": """lass lasst lassen_sie belass belasse belassen_sie bleib bleibt_bei bleiben_sie behalte
            behalten_sie halte halten_sie behandle behandeln_sie hör_auf hört_auf hören_sie_auf finger_weg
            hände_weg unterlass unterlasse unterlassen_sie""",
    },
    "nl": {
        "stop": """de het een en of maar want dat die dit deze als is zijn was waren ben bent heeft hebben had
            te van in op aan bij met naar uit voor door over onder om er hij zij ze hem haar hun zich ook nog al
            dan toen zo wel niet geen wat wie waar wordt worden""",
        "universal": """altijd nooit elke elk iedere ieder alle alles alleen uitsluitend steeds niets niemand
            telkens enkel in_geen_geval onder_geen_beding onder_geen_enkele_omstandigheid op_geen_enkele_manier""",
        "scope": """vanaf_nu voortaan in_de_toekomst tot behalve tenzij zolang standaard in_het_algemeen
            telkens_als vanaf_vandaag voordat zodra""",
        "must": """moet moeten moest mag mogen mag_niet mogen_niet verboten verplicht toegestaan kan_niet
            kunnen_niet zou_moeten hoort beslist absoluut in_geen_geval nodig vereist""",
        "not": "niet geen nooit zonder vermijd vermijden stop niets noch",
        "prefer": """liever verkies prefereer voorkeur lust hou houd haat graag favoriet favoriete in_plaats_van
            allergisch vegetariër veganist bij_voorkeur liefst""",
        "limit": """maximaal minimaal hoogstens minstens maximum minimum niet_meer_dan limiet grens deadline
            budget uiterlijk overschrijden binnen onder boven tot_en_met verloopt""",
        "self": "ik mijn me mij m'n wij we ons onze",
        "you": "jij je jou jouw u uw jullie",
        "aside": """trouwens overigens terzijde ter_info even_voor_de_duidelijkheid tussen_haakjes
            voor_de_volledigheid nog_iets""",
        "mind": "onthoud vergeet_niet let_op denk_eraan belangrijk noteer houd_rekening",
        "goal": "doel doelen fase mijlpaal status voortgang geblokkeerd prioriteit streven bedoeling",
        "decide": "besloten beslissing afgesproken gekozen",
        "ask": "kun_je kunt_u kan_je zou_je wat welke hoe waarom wanneer waar wie mag_ik kan_ik heb_je",
        "ack": "ja nee bedankt dank oké ok prima goed hallo doei begrepen precies top",
        "feel": "helaas hoop bedankt sorry blij gefrustreerd hulp helpen",
        "past": "heb_ik ik_heb was had gedaan gekregen gekocht geprobeerd hebben_we",
        "now": "momenteel vandaag nu nog meteen op_dit_moment al",
        "update": """nu toch gewijzigd wijzig verander veranderd verschoven nieuw nieuwe correctie eigenlijk
            niet_meer verplaatst vervangen inmiddels verhoogd verlaagd maak_er in_plaats_daarvan geworden""",
        "instead": "in_plaats niet",
        "contrast": "maar naar",
        "retract": "niet_meer mag_nu kan_nu hoeft_niet niet_nodig mag_weer vervalt",
        "forget": "vergeet negeer laat_maar",
        "done": "klaar voltooid gelukt succesvol geannuleerd geboekt aangemaakt verzonden bevestigd opgelost",
        "trouble": "werkt_niet nog_steeds fout verkeerd",
        "want": "ik_wil ik_zou_graag ik_heb_nodig we_willen",
        "please": "alsjeblieft alstublieft graag",
        "rulehead": "regel regels eisen beperkingen belangrijk voorkeuren afspraken",
        "state": """ben is zijn woon werk heb heeft hebben heet eet drink spreek beheert regelt verantwoordelijk
            gebruik doet""",
        "norm": "verplicht verboten taboe uitgesloten",
        "hold": "laat laten_staan houd hou blijf behandel stop hou_op houd_op handen_af",
    },
    "sv": {
        "stop": """och att det som en ett den de är var på i av för med till från om men eller så han hon dem
            sig inte har hade kan ska vid efter""",
        "universal": """alltid aldrig varje alla allt bara endast enbart inget ingen under_inga_omständigheter
            i_inget_fall på_inga_villkor""",
        "scope": "från_och_med_nu framöver i_framtiden tills utom om_inte hädanefter",
        "must": "måste får_inte får ska bör borde kan_inte förbjudet tillåtet krävs",
        "not": "inte aldrig utan undvik sluta inga ingen",
        "prefer": "föredrar hellre gillar älskar hatar favorit istället_för allergisk vegetarian helst",
        "limit": "högst minst max maximalt gräns deadline budget senast överstiga under över",
        "self": "jag min mitt mina mig vi vår vårt våra oss",
        "you": "du din ditt dina dig ni er",
        "aside": "förresten för_övrigt apropå bara_så_du_vet",
        "mind": "kom_ihåg glöm_inte viktigt tänk_på",
        "goal": "mål fas status prioritet milstolpe",
        "decide": "beslutat bestämt valt",
        "ask": "kan_du skulle_du vad vilken hur varför när var vem",
        "ack": "ja nej tack ok bra hej precis",
        "feel": "tyvärr hoppas tack förlåt hjälp",
        "past": "har_jag jag_har gjorde fick köpte",
        "now": "just_nu idag nu för_närvarande",
        "update": "nu istället ändra ändrat flyttad flyttat ny nya nytt inte_längre egentligen",
        "instead": "istället_för inte",
        "contrast": "utan till",
        "retract": "inte_längre får_nu kan_nu behöver_inte",
        "forget": "glöm ignorera",
        "done": "klart klar färdig avbokad bokad",
        "trouble": "fungerar_inte fortfarande fel",
        "want": "jag_vill jag_skulle_vilja",
        "please": "snälla vänligen",
        "rulehead": "regel regler krav viktigt",
        "state": "är bor arbetar jobbar har heter äter dricker ansvarar sköter använder",
        "norm": "förbjudet obligatoriskt uteslutet",
        "hold": "låt behåll håll sluta behandla",
    },
}
