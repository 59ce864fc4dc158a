"""What writers of dialogues write and how it is said: a table, each row one written form in its place."""

from __future__ import annotations

import pytest

from cares.speech.spoken import spoken_text, spoken_words

TABLE = [
    # numbers
    ("bring 2 bottles", "bring two bottles"),
    ("I'm 30 or 31", "I'm thirty or thirty-one"),
    ("1,000,000 views", "one million views"),
    ("2.5M views, 10K likes", "two point five million views, ten thousand likes"),
    ("3.14 and .5", "three point one four and point five"),
    ("version 2.0.1", "version two point zero point one"),
    ("agent 007", "agent zero zero seven"),
    ("3-4 times", "three to four times"),
    ("10,000-12,000 people", "ten thousand to twelve thousand people"),
    ("a 50-50 chance", "a fifty fifty chance"),
    ("she's 25-ish, I'm 7ish", "she's twenty-five-ish, I'm seven-ish"),
    ("a 3-hour, 20-minute drive", "a three-hour, twenty-minute drive"),
    ("the 1st, the 22nd", "the first, the twenty-second"),
    ("No. 1, #2, # 5", "number one, number two, number five"),
    ("I've two 2's", "I've two twos"),
    ("2-for-1", "two for one"),
    ("10x faster, 4x4, 2 x 3", "ten times faster, four by four, two by three"),
    ("3 + 4 = 7", "three plus four equals seven"),
    ("about ~10, <3", "about about ten, three"),
    ("±5", "plus or minus five"),
    ("-5 outside", "minus five outside"),
    ("1/2 cup, 2 1/2 cups", "one half cup, two and one half cups"),
    ("24/7, 9/11", "twenty-four seven, nine eleven"),
    ("half past 7", "half past seven"),
    ("three 100%", "three one hundred percent"),
    # times and dates
    ("at 2:00 or 10:05", "at two o'clock or ten oh five"),
    ("at 9 a.m. sharp", "at nine A M sharp"),
    ("6:45 p.m.", "six forty-five P M."),
    ("10 AM, 7pm", "ten A M, seven P M"),
    ("open 9am-5pm", "open nine A M to five P M"),
    ("7-8pm", "seven to eight P M"),
    ("a 9-5 job", "a nine to five job"),
    ("10:30-11:30", "ten thirty to eleven thirty"),
    ("July 4th", "July fourth"),
    ("May 5, 2024", "May fifth, twenty twenty-four"),
    ("1 June at noon", "the first of June at noon"),
    ("the 1 June", "the first of June"),
    ("Feb. 3 and Sept. 21st", "February third and September twenty-first"),
    ("3/14/2024", "March fourteenth, twenty twenty-four"),
    ("2024-05-05", "May fifth, twenty twenty-four"),
    ("on 3/4 we met", "on March fourth we met"),
    ("Mon. to Fri.", "Monday to Friday."),
    ("the Sun. It rose", "the Sun. It rose"),
    ("in 1984 or 1905", "in nineteen eighty-four or nineteen oh five"),
    ("from 1990-1995", "from nineteen ninety to nineteen ninety-five"),
    ("the '90s, the 80's", "the nineties, the eighties"),
    ("the mid-1990s", "the mid nineteen nineties"),
    # money
    ("$180", "one hundred eighty dollars"),
    ("$1 or $2.50", "one dollar or two dollars fifty"),
    ("$0.99 or 50¢", "ninety-nine cents or fifty cents"),
    ("$20-30 or $20-$30", "twenty to thirty dollars or twenty to thirty dollars"),
    ("$1.5k, $5 million", "one point five thousand dollars, five million dollars"),
    ("€5, £3.20, ¥100", "five euros, three pounds twenty, one hundred yen"),
    ("$5/hour", "five dollars per hour"),
    # units
    ("5 kg, 1 kg", "five kilograms, one kilogram"),
    ("3km away", "three kilometers away"),
    ("a 5-km run", "a five-kilometer run"),
    ("12 oz. of it", "twelve ounces of it"),
    ("2 hrs. or 30 min", "two hours or thirty minutes"),
    ("5 in the morning", "five in the morning"),
    ("60 mph, 60km/h", "sixty miles per hour, sixty kilometers per hour"),
    ("-5°C or 72°F", "minus five degrees Celsius or seventy-two degrees Fahrenheit"),
    ("20° or 98.6°", "twenty degrees or ninety-eight point six degrees"),
    ("16 GB, 5G", "sixteen gigabytes, five G"),
    ("5'10\" tall", "five foot ten tall"),
    ("5 days/week", "five days per week"),
    # names, titles, places
    ("Dr. Lee, Dr Lee", "Doctor Lee, Doctor Lee"),
    ("Mr. and Mrs. Hall", "Mister and Missis Hall"),
    ("Sgt. Pepper", "Sergeant Pepper"),
    ("St. John St. today", "Saint John Street today"),
    ("on Main St., St Mary", "on Main Street, Saint Mary"),
    ("Ft. Worth, 6 ft. deep", "Fort Worth, six feet deep"),
    ("Apt. 4B, apt. 12", "apartment four B, apartment twelve"),
    ("World War II, Chapter IV", "World War two, Chapter four"),
    ("Henry VIII and Louis XIV", "Henry the eighth and Louis the fourteenth"),
    ("an IV drip", "an IV drip"),
    ("O'Brien and Jean-Luc", "O'Brien and Jean-Luc"),
    ("José and Zoë", "José and Zoë"),
    # places with numbers, telephone
    ("room 101, flight 1204", "room one oh one, flight twelve oh four"),
    ("Route 66, gate B12", "Route sixty-six, gate B twelve"),
    ("call 911", "call nine one one"),
    ("555-123-4567", "five five five, one two three, four five six seven"),
    ("(555) 123-4567", "five five five one two three, four five six seven"),
    ("1-800-555-1234", "one, eight hundred, five five five, one two three four"),
    # acronyms, signs, addresses
    ("NASA, the FBI, my TV", "NASA, the FBI, my TV"),
    ("a VIP in the ER, two EVs", "a V I P in the E R, two E V's"),
    ("R&B, AT&T, Smith & Sons", "R and B, A T and T, Smith and Sons"),
    ("I SAID NO, STOP IT!", "I said no, stop it!"),
    ("NO way", "NO way"),
    ("e.g. this, i.e. that, etc.", "for example this, that is that, et cetera."),
    ("this vs. that", "this versus that"),
    ("he/she and/or they", "he or she and or they"),
    ("w/ milk, w/o sugar", "with milk, without sugar"),
    ("a B+ or an A-", "a B plus or an A minus"),
    ("mom@home.com", "mom at home dot com"),
    ("www.test.org", "W W W dot test dot org"),
    ("iPhone 12, PS5, MP3", "iPhone twelve, PS five, MP three"),
    ("a 4K 3D film", "a four K three D film"),
    ("#metoo", "hashtag metoo"),
    # interjections, stops, quotes
    ("Hmm... hm, mm", "Hmm... hmm, hmm"),
    ("Mm-hmm. Shh!", "Uh-huh. Shush!"),
    ("Ewww, no", "Yuck, no"),
    ("Uh-huh, ugh, psst", "Uh-huh, ugh, psst"),
    ("“Well,” she said", "Well, she said"),
    ("Wait — what?!", "Wait, what?!"),
    ("it’s Tom’s", "it's Tom's"),
    ("so…", "so..."),
]  # fmt: skip


@pytest.mark.parametrize(("written", "said"), TABLE)
def test_each_form_is_said_in_its_place(written: str, said: str) -> None:
    assert spoken_text(written) == said


@pytest.mark.parametrize(("written", "said"), TABLE)
def test_each_written_word_keeps_its_words_and_what_is_said_stays_so(written: str, said: str) -> None:
    words = spoken_words(written)
    assert len(words) == len(written.split())
    assert not any(character.isdigit() for character in said)
    assert spoken_text(said) == said


def test_the_table_is_long_enough_to_mean_something() -> None:
    assert len({written for written, _ in TABLE}) >= 80
