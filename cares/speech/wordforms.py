"""Tables of the written forms that are said in other words: abbreviations, units, interjections, acronyms.

Keys are in lower case unless said. What espeak-ng, whose phonemes the engines use, reads right is not listed: "NASA",
"FBI", "TV" and "U.S." need no help. Interjections stand here where it would spell them ("hm" as two letters).
"""

from __future__ import annotations

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
MONTH_FORMS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "jun": "June", "jul": "July", "aug": "August",
    "sep": "September", "sept": "September", "oct": "October", "nov": "November", "dec": "December",
}  # fmt: skip
WEEKDAY_FORMS = {
    "mon.": "Monday", "tue.": "Tuesday", "tues.": "Tuesday", "wed.": "Wednesday", "thu.": "Thursday",
    "thur.": "Thursday", "thurs.": "Thursday", "fri.": "Friday", "sat.": "Saturday", "sun.": "Sunday",
}  # fmt: skip
ABBREVIATIONS = {
    "dr.": "Doctor", "mr.": "Mister", "mrs.": "Missis", "ms.": "Miz", "prof.": "Professor", "jr.": "Junior",
    "dr": "Doctor", "mr": "Mister", "mrs": "Missis", "ms": "Miz", "sgt.": "Sergeant", "lt.": "Lieutenant",
    "capt.": "Captain", "col.": "Colonel", "gen.": "General", "gov.": "Governor", "sen.": "Senator",
    "rep.": "Representative", "rev.": "Reverend", "sr.": "Senior", "vs.": "versus", "vs": "versus",
    "etc.": "et cetera", "etc": "et cetera", "approx.": "approximately", "ca.": "about", "dept.": "department",
    "inc.": "Incorporated", "ltd.": "Limited", "corp.": "Corporation", "bros.": "Brothers", "apt.": "apartment",
    "ave.": "Avenue", "rd.": "Road", "blvd.": "Boulevard", "hwy.": "Highway", "ln.": "Lane", "mt.": "Mount",
    "ft.": "Fort", "e.g.": "for example", "i.e.": "that is", "a.k.a.": "also known as", "min.": "minimum",
    "max.": "maximum", "tel.": "telephone", "temp.": "temperature", "a.m.": "A M", "p.m.": "P M", "p.s.": "P S",
    "and/or": "and or", "w/": "with", "w/o": "without", "b/c": "because", "&": "and", "+": "plus", "=": "equals",
    "@": "at", "%": "percent", "/": "or", "#": "number", "\u00b0": "degrees", "\u00b1": "plus or minus",
    "\u00d7": "times", "\u00f7": "divided by", "\u00a2": "cents",
}  # fmt: skip
# these stand for a word only before a number or after one, or they are words of their own
NEEDS_NUMBER = {"ft.", "min.", "max."}
INTERJECTIONS = {
    "hm": "hmm", "mm": "hmm", "mhm": "uh-huh", "mm-hm": "uh-huh", "mm-hmm": "uh-huh", "mmhmm": "uh-huh",
    "m-hm": "uh-huh", "uhm": "um", "sh": "shush", "pfft": "puff", "pff": "puff", "ew": "yuck", "eew": "yuck",
    "brr": "burr", "grr": "gurr", "aw": "aw",
}  # fmt: skip
# espeak-ng would read these as words
SPELT = {
    "VIP", "ER", "ICU", "UPS", "PTA", "SOS", "NYC", "EV", "HOA", "YMCA", "UTI", "VIPs", "EVs", "FAQ", "LED", "LEDs",
}  # fmt: skip
# one of the unit, several of it; single letters count only in lower case
UNITS = {
    "km": ("kilometer", "kilometers"), "m": ("meter", "meters"), "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"), "kg": ("kilogram", "kilograms"), "g": ("gram", "grams"),
    "mg": ("milligram", "milligrams"), "l": ("liter", "liters"), "ml": ("milliliter", "milliliters"),
    "lb": ("pound", "pounds"), "lbs": ("pound", "pounds"), "oz": ("ounce", "ounces"), "ft": ("foot", "feet"),
    "in": ("inch", "inches"), "yd": ("yard", "yards"), "yds": ("yard", "yards"), "mi": ("mile", "miles"),
    "mph": ("mile per hour", "miles per hour"), "km/h": ("kilometer per hour", "kilometers per hour"),
    "min": ("minute", "minutes"), "mins": ("minute", "minutes"), "hr": ("hour", "hours"), "hrs": ("hour", "hours"),
    "h": ("hour", "hours"), "sec": ("second", "seconds"), "secs": ("second", "seconds"), "s": ("second", "seconds"),
    "tsp": ("teaspoon", "teaspoons"), "tbsp": ("tablespoon", "tablespoons"), "kb": ("kilobyte", "kilobytes"),
    "mb": ("megabyte", "megabytes"), "gb": ("gigabyte", "gigabytes"), "tb": ("terabyte", "terabytes"),
    "am": ("A M", "A M"), "pm": ("P M", "P M"), "a.m.": ("A M", "A M"), "p.m.": ("P M", "P M"),
    "%": ("percent", "percent"), "\u00a2": ("cent", "cents"), "\u00b0": ("degree", "degrees"),
    "\u00b0c": ("degree Celsius", "degrees Celsius"), "\u00b0f": ("degree Fahrenheit", "degrees Fahrenheit"),
}  # fmt: skip
# a word of its own after a number: "5 in the morning", "2 s"
NOT_APART = {"in", "s", "h"}
MONEY = {
    "$": ("dollar", "dollars"), "\u00a3": ("pound", "pounds"), "\u20ac": ("euro", "euros"), "\u00a5": ("yen", "yen"),
}  # fmt: skip
SCALES = ("hundred", "thousand", "million", "billion", "trillion")
# after these a number is a name: "room 101" is "one oh one", "flight 1204" is "twelve oh four"
NUMBERED = {
    "room", "flight", "route", "highway", "interstate", "suite", "gate", "bus", "apartment", "apt", "unit", "channel",
    "exit", "locker", "extension", "building",
}  # fmt: skip
DIALLED = {"call", "dial", "called", "dialed", "calling", "dialing", "911", "311", "411"}
# "$5/hour" is "five dollars per hour", "he/she" is "he or she"
PER = {
    "hour", "hr", "day", "week", "month", "year", "night", "minute", "min", "second", "person", "head", "mile",
    "gallon", "pound", "lb", "piece", "h",
}  # fmt: skip
ROMAN = {
    "II": 2, "III": 3, "IV": 4, "VI": 6, "VII": 7, "VIII": 8, "IX": 9, "XI": 11, "XII": 12, "XIII": 13, "XIV": 14,
    "XV": 15, "XVI": 16,
}  # fmt: skip
ROMAN_COUNTED = {
    "war", "chapter", "part", "act", "phase", "type", "level", "volume", "episode", "season", "book", "scene", "step",
    "rocky",
}  # fmt: skip
RULERS = {
    "henry", "louis", "george", "edward", "charles", "william", "james", "richard", "elizabeth", "paul", "pius",
    "benedict", "napoleon",
}  # fmt: skip
DOMAINS = "com|org|net|edu|gov|io|co|uk|us|tv|me|app"
DATE_PREPOSITIONS = {"on", "by", "since", "until", "till", "before", "after", "from"}
# a text in capitals that holds one of these is shouted; others may be a row of acronyms
COMMON = {
    "I", "YOU", "IT", "THE", "A", "TO", "IS", "NO", "NOT", "ME", "MY", "THAT", "WE", "THIS", "HE", "SHE", "ON", "IN",
}  # fmt: skip
