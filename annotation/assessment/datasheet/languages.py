"""Languages by the names that the form of HEDS 3.0 lists (ISO 639-1, 2019), in its order; where a language has several names,
commas are between them."""

import re

NAMES = """
Abkhazian; Afar; Afrikaans; Akan; Albanian; Amharic; Arabic; Aragonese; Armenian; Assamese; Avaric; Avestan; Aymara;
Azerbaijani; Bambara; Bashkir; Basque; Belarusian; Bengali; Bislama; Bosnian; Breton; Bulgarian; Burmese; Catalan, Valencian;
Chamorro; Chechen; Chichewa, Chewa, Nyanja; Chinese; Church Slavic, Old Slavonic, Church Slavonic, Old Bulgarian,
Old Church Slavonic; Chuvash; Cornish; Corsican; Cree; Croatian; Czech; Danish; Divehi, Dhivehi, Maldivian; Dutch, Flemish;
Dzongkha; English; Esperanto; Estonian; Ewe; Faroese; Fijian; Finnish; French; Western Frisian; Fulah; Gaelic, Scottish
Gaelic; Galician; Ganda; Georgian; German; Greek, Modern (1453–); Kalaallisut, Greenlandic; Guarani; Gujarati; Haitian,
Haitian Creole; Hausa; Hebrew; Herero; Hindi; Hiri Motu; Hungarian; Icelandic; Ido; Igbo; Indonesian; Interlingua
(International Auxiliary Language Association); Interlingue, Occidental; Inuktitut; Inupiaq; Irish; Italian; Japanese;
Javanese; Kannada; Kanuri; Kashmiri; Kazakh; Central Khmer; Kikuyu, Gikuyu; Kinyarwanda; Kirghiz, Kyrgyz; Komi; Kongo; Korean;
Kuanyama, Kwanyama; Kurdish; Lao; Latin; Latvian; Limburgan, Limburger, Limburgish; Lingala; Lithuanian; Luba-Katanga;
Luxembourgish, Letzeburgesch; Macedonian; Malagasy; Malay; Malayalam; Maltese; Manx; Maori; Marathi; Marshallese; Mongolian;
Nauru; Navajo, Navaho; North Ndebele; South Ndebele; Ndonga; Nepali; Norwegian; Norwegian Bokmål; Norwegian Nynorsk; Sichuan
Yi, Nuosu; Occitan; Ojibwa; Oriya; Oromo; Ossetian, Ossetic; Pali; Pashto, Pushto; Persian; Polish; Portuguese; Punjabi,
Panjabi; Quechua; Romanian, Moldavian, Moldovan; Romansh; Rundi; Russian; Northern Sami; Samoan; Sango; Sanskrit; Sardinian;
Serbian; Shona; Sindhi; Sinhala, Sinhalese; Slovak; Slovenian; Somali; Southern Sotho; Spanish, Castilian; Sundanese; Swahili;
Swati; Swedish; Tagalog; Tahitian; Tajik; Tamil; Tatar; Telugu; Thai; Tibetan; Tigrinya; Tonga (Tonga Islands); Tsonga;
Tswana; Turkish; Turkmen; Twi; Uighur, Uyghur; Ukrainian; Urdu; Uzbek; Venda; Vietnamese; Volapük; Walloon; Welsh; Wolof;
Xhosa; Yiddish; Yoruba; Zhuang, Chuang; Zulu
"""
LISTED = [name.strip() for name in NAMES.replace("\n", " ").split(";")]
NONE = "N/A"


def numbers_of(words: str) -> tuple[list[int], bool]:
    """(the languages' numbers in the form, from 1, without doubles; whether something else was said too). words: names with
    commas, semicolons, lines or "and" between them."""
    numbers = {_folded(name): n for n, listed in enumerate(LISTED, start=1) for name in (listed, *listed.split(","))}
    said = [_folded(part) for part in re.split(r"[,;\n/]|\band\b", words) if part.strip()]
    found = [numbers[name] for name in said if name in numbers]
    return sorted(set(found)), len(found) < len(said)


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold().rstrip(".")
