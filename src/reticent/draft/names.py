"""Whether a column's name is that of an identifier: what names, numbers or reaches one person.

A column's name is read as words, and a compound is what its last word says: `patient_age` is an age, `home_phone` a phone.  A
`name` is that of the word before: `patient_name` is a person's, `drug_name` is not.  Where that word is not known, a person is
meant: one column too many that is not published costs less than one too few.
"""

from __future__ import annotations

import re


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_BETWEEN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)")
_NAMES = _listed("name names nm")
_IDS = _listed("id ids identifier uid pid uuid guid")
_NUMBERS = _listed("no nr num nbr number key ref hash")
_IDENTIFIERS = _listed(
    "ssn nin nhs mrn maiden initials email mail phone telephone tel fax mobile address street "
    "passport license licence iban account url ip plate vin serial person patient household"
)
_NUMBERED = _IDENTIFIERS | _listed(
    "id client customer member user subject case record visit encounter episode admission participant respondent employee "
    "student staff hh policy card tax insurance security house file chart hospitalization claim"
)
"""Whose number is an identifier: of persons, of what one person has, and of what happens to one."""
_WHICH = _listed(
    "home work office private mobile cell primary secondary main alternate alt emergency current former permanent "
    "postal mailing line ext full first last middle second given family legal preferred display short long official "
    "local raw clean orig original text"
)
"""Words beside an identifier that say which of several it is."""
_GLUED = {
    "name": None,
    "id": _NUMBERED,
    "number": _NUMBERED,
    **dict.fromkeys(("phone", "email", "address"), _WHICH | _NUMBERED),
}
"""Last words that are written without a mark before them, and after which words; None after any."""
_OF = _listed("of the a in")
_MEASURED = _listed(
    "length len count type changed flag score match valid missing quality origin language frequency rank"
)
"""What is measured of a name or an id, and is neither."""
_THINGS = _listed(
    "hospital clinic ward unit department dept division section facility site location institution institute center "
    "centre lab laboratory pharmacy school university college campus city town village municipality county country "
    "nation state province region district area zone borough parish neighborhood neighbourhood precinct constituency "
    "station stop airport port building room store shop branch bank market company employer firm business vendor "
    "supplier manufacturer organization organisation org agency association union insurer payer plan team club league "
    "event incident accident disaster holiday storm conference drug medication medicine med substance compound "
    "chemical ingredient vaccine antibiotic product item good brand generic trade scientific common proprietary "
    "device equipment machine instrument model make species breed animal organism gene variant allele protein allergy "
    "allergen specimen test panel analyte exam procedure operation surgery treatment therapy intervention service "
    "diagnosis disease illness condition disorder symptom syndrome finding specialty speciality program programme "
    "project study trial cohort survey course module degree major field discipline grade class category group type "
    "kind status stage level label job position role occupation profession industry sector task activity sport "
    "currency language religion ethnicity race nationality tribe month day weekday season period quarter color colour "
    "variable column table dataset data file sheet question questionnaire measure measurement metric indicator index "
    "scale score outcome parameter attribute feature property code vehicle ship vessel route road airline carrier "
    "network channel campaign app browser platform system software version technique method source standard scheme "
    "fund award contract policy hosp fac inst univ corp prod proc mfr dx rx"
)
"""What has a name and is no person."""


def words_of(name: str) -> list[str]:
    """The words of `patient_name`, `patientName`, `PATIENT NAME` and `patientname`, in small letters."""
    found = [word for word in re.split(r"[\W_]+", _BETWEEN.sub(" ", name).lower()) if word]
    return [part for word in found for part in _parted(word)]


def identifies(name: str) -> bool:
    """Whether a column of this name is an identifier."""
    words = words_of(name)
    if _MEASURED & set(words[-1:]):
        return False
    if (at := next((at for at, word in enumerate(words) if word in _NAMES), None)) is not None:
        return _noun(words, at) not in _THINGS
    while len(words) > 1 and (words[-1].isdigit() or words[-1] in _WHICH - _IDENTIFIERS):
        words = words[:-1]
    head, before = set(words[-1:]), set(words[-2:-1])
    return bool(_IDS & set(words) or _IDENTIFIERS & head or (_NUMBERS & head and _NUMBERED & before))


def numbers_person(name: str) -> bool:
    """Whether an identifier of this name may number persons, as `patient_id` does and `email` does not."""
    words = set(words_of(name))
    return not _NAMES & words and bool({*_IDS, "ssn", "nin", "nhs", "mrn", "person", "patient", "passport"} & words)


def _noun(words: list[str], at: int) -> str:
    """Whose name it is: the word before it, or, where it comes first, the one after."""
    before = [word for word in words[:at] if word not in _WHICH and not word.isdigit()]
    after = [word for word in words[at + 1 :] if word not in _WHICH | _OF and not word.isdigit()]
    return before[-1] if before else after[0] if after else ""


def _parted(word: str) -> list[str]:
    """`firstname` is two words, and so are `patientid` and `homephone`; covid, paid and telephone are one."""
    for last, owners in _GLUED.items():
        owner = word.removesuffix(last)
        if owner not in ("", word) and (owners is None or owner in owners):
            return [owner, last]
    return [word]
