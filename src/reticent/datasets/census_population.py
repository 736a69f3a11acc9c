"""The people of the census generator: who there is, and how often.  Frozen as version 1: change nothing here.

Every weight is a small integer, so that the tables made from them are the same on every machine.  The shapes (age
pyramid, schooling by generation, marital status by age, pay by age and schooling) follow the United States around
2000, from which the papers' CENSUS and SAL extracts come; the figures are ours, rounded, and describe nobody.
"""

from __future__ import annotations

from typing import NamedTuple

AGES = range(17, 96)
GENDERS = ("female", "male")
EDUCATION = (
    "none", "grades 1-4", "grades 5-6", "grades 7-8", "grade 9", "grade 10", "grade 11", "grade 12, no diploma",
    "high school", "college, below 1 year", "college, no degree", "associate, occupational", "associate, academic",
    "bachelor", "master", "professional degree", "doctorate",
)  # fmt: skip
MARITAL_STATUS = ("spouse present", "spouse absent", "separated", "divorced", "widowed", "never married")
WORK_CLASS = (
    "private company", "private non-profit", "local government", "state government", "federal government",
    "armed forces", "own company", "own account", "family worker", "no recent work",
)  # fmt: skip
RACE = (
    "White", "Black", "American Indian", "other race", "Chinese", "Japanese", "other Asian or Pacific",
    "two races", "three or more races",
)  # fmt: skip
# Salary class i is [2000 i, 2000 (i + 1)) dollars, as in paper 5; per million people.  Class 12 has 4.8402 %, class 49
# 0.2018 %, as in section 6 of paper 1.
SALARY_PER_MILLION = (
    13650, 16531, 20058, 23167, 25778, 30555, 31492, 34795, 37578, 39722,
    45197, 45049, 48402, 45653, 42356, 42460, 37396, 35584, 33292, 30622,
    30423, 26543, 25007, 23153, 21064, 20686, 17830, 16585, 15151, 13591,
    13152, 11164, 10220, 9184, 8101, 7707, 6432, 5793, 5128, 4465,
    4207, 3495, 3154, 3010, 2900, 2790, 2680, 2570, 2460, 2018,
)  # fmt: skip
# Knots (age, weight); between two of them weights are interpolated.
AGE_WEIGHTS = ((17, 60), (25, 78), (35, 92), (45, 84), (55, 58), (65, 44), (75, 32), (85, 12), (95, 1))
AGE_PAY = ((17, 0), (22, 6), (30, 17), (40, 23), (50, 25), (60, 22), (67, 12), (80, 6), (95, 4))
# Education levels 0 to 16 by the first age to which the row applies.
EDUCATION_WEIGHTS = {
    17: (4, 2, 4, 12, 30, 120, 260, 110, 210, 130, 110, 6, 4, 1, 0, 0, 0),
    20: (6, 3, 8, 14, 18, 26, 38, 45, 280, 90, 250, 30, 32, 140, 16, 3, 1),
    25: (8, 5, 14, 16, 18, 24, 30, 40, 270, 70, 160, 42, 40, 200, 60, 18, 8),
    35: (8, 6, 14, 18, 16, 22, 26, 30, 290, 65, 150, 44, 40, 180, 75, 24, 14),
    55: (10, 9, 20, 34, 20, 28, 26, 26, 310, 55, 130, 28, 26, 140, 75, 22, 14),
    65: (18, 22, 40, 90, 34, 44, 34, 26, 310, 50, 100, 14, 14, 90, 44, 18, 10),
}
EDUCATION_PAY = (0, 0, 1, 2, 3, 3, 4, 4, 8, 10, 11, 13, 13, 20, 25, 32, 30)
# Schooling: below high school, high school, some college, bachelor, more.
SCHOOLING = (0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 3, 4, 4, 4)
# Percent by marital status at an age, interpolated between.
MARITAL_WEIGHTS = {
    "female": {
        17: (2, 1, 1, 0, 0, 96), 22: (20, 3, 2, 2, 0, 73), 28: (50, 3, 3, 7, 0, 37), 35: (62, 2, 4, 12, 1, 19),
        45: (64, 2, 4, 17, 2, 11), 55: (62, 2, 3, 18, 8, 7), 65: (56, 1, 2, 13, 23, 5), 75: (38, 1, 1, 8, 48, 4),
        85: (16, 1, 1, 5, 73, 4), 95: (5, 1, 0, 3, 87, 4),
    },
    "male": {
        17: (1, 1, 0, 0, 0, 98), 22: (12, 3, 1, 1, 0, 83), 28: (42, 3, 2, 5, 0, 48), 35: (60, 3, 3, 10, 0, 24),
        45: (66, 2, 3, 14, 1, 14), 55: (70, 2, 2, 15, 2, 9), 65: (74, 2, 2, 10, 7, 5), 75: (70, 2, 1, 7, 16, 4),
        85: (56, 2, 1, 4, 34, 3), 95: (38, 2, 1, 3, 53, 3),
    },
}  # fmt: skip
MARITAL_PAY = (4, 1, 1, 2, 0, 0)
GENDER_PAY = (0, 5)
# Work class by the first age to which the row applies, times a percentage by schooling.
WORK_WEIGHTS = {
    17: (70, 4, 5, 4, 1, 3, 1, 2, 1, 14),
    25: (62, 6, 7, 5, 3, 1, 5, 7, 1, 8),
    55: (52, 7, 8, 5, 4, 0, 7, 10, 1, 14),
    65: (30, 5, 4, 2, 1, 0, 6, 14, 2, 60),
}
WORK_BY_SCHOOLING = (
    (100, 50, 50, 40, 30, 5, 40, 110, 160, 220),
    (110, 70, 80, 70, 80, 120, 80, 100, 110, 110),
    (105, 95, 100, 95, 130, 150, 100, 95, 80, 85),
    (95, 150, 140, 130, 130, 60, 140, 90, 60, 60),
    (60, 230, 220, 260, 150, 50, 160, 110, 40, 45),
)
WORK_PAY = (8, 6, 6, 6, 10, 5, 13, 4, 0, 0)
# Sectors an occupation is drawn for: private, government, armed forces, own business, without pay.
SECTOR = (0, 0, 1, 1, 1, 2, 3, 3, 4, 4)
# The spread of pay that nothing above explains: a binomial of NOISE_TRIALS trials, so with standard deviation 20, cut
# at NOISE_REACH points on both sides.
NOISE_TRIALS = 1600
NOISE_REACH = 64
# The weight of people in an occupation by the steps between their schooling and the usual one.
SCHOOLING_DISTANCE = (60, 25, 8, 2, 1)
RACE_WEIGHTS = (3080, 490, 36, 180, 40, 16, 124, 106, 24)  # of 4,096
# Places of birth by (country, division), in hundred thousands.
BIRTHPLACES = {
    ("United States", "New England"): {
        "Connecticut": 34, "Maine": 13, "Massachusetts": 63, "New Hampshire": 12, "Rhode Island": 10, "Vermont": 6,
    },
    ("United States", "Middle Atlantic"): {"New Jersey": 84, "New York": 190, "Pennsylvania": 123},
    ("United States", "East North Central"): {
        "Illinois": 124, "Indiana": 61, "Michigan": 99, "Ohio": 114, "Wisconsin": 54,
    },
    ("United States", "West North Central"): {
        "Iowa": 29, "Kansas": 27, "Minnesota": 49, "Missouri": 56, "Nebraska": 17, "North Dakota": 6,
        "South Dakota": 8,
    },
    ("United States", "South Atlantic"): {
        "Delaware": 8, "District of Columbia": 6, "Florida": 160, "Georgia": 82, "Maryland": 53, "North Carolina": 80,
        "South Carolina": 40, "Virginia": 71, "West Virginia": 18,
    },
    ("United States", "East South Central"): {"Alabama": 44, "Kentucky": 40, "Mississippi": 28, "Tennessee": 57},
    ("United States", "West South Central"): {"Arkansas": 27, "Louisiana": 45, "Oklahoma": 35, "Texas": 209},
    ("United States", "Mountain"): {
        "Arizona": 51, "Colorado": 43, "Idaho": 13, "Montana": 9, "Nevada": 20, "New Mexico": 18, "Utah": 22,
        "Wyoming": 5,
    },
    ("United States", "Pacific"): {"Alaska": 6, "California": 339, "Hawaii": 12, "Oregon": 34, "Washington": 59},
    ("abroad", "the Americas"): {"Puerto Rico or island area": 14, "Canada": 9, "Latin America": 150},
    ("abroad", "other continents"): {"Europe": 50, "Asia": 75, "Africa or Oceania": 12},
}  # fmt: skip
# Percent of that size for a race: one figure for each of the nine divisions, then one for each place abroad.
BIRTHPLACE_BY_RACE = {
    "White": (100, 100, 100, 100, 100, 100, 100, 100, 100, 60, 120, 40, 140, 15, 30),
    "Black": (30, 110, 90, 30, 220, 220, 160, 20, 40, 150, 5, 50, 10, 2, 250),
    "American Indian": (20, 20, 40, 120, 40, 30, 180, 400, 150, 10, 100, 80, 1, 1, 1),
    "other race": (40, 60, 30, 20, 30, 10, 160, 120, 200, 800, 10, 900, 20, 10, 10),
    "Asian or Pacific": (8, 12, 8, 6, 6, 3, 6, 10, 80, 5, 10, 10, 10, 1500, 60),
    "several races": (60, 70, 60, 60, 60, 30, 140, 160, 260, 200, 60, 150, 60, 150, 100),
}
# The row of that table for each race.
BIRTHPLACE_ROW = (0, 1, 2, 3, 4, 4, 4, 5, 5)


class Occupation(NamedTuple):
    """An occupation: its size, and who has it."""

    name: str
    group: str
    size: int  # people, relative
    schooling: int  # the usual one
    women: int  # percent
    government: int  # percent of its size found there
    own: int  # percent of its size found in own businesses
    pay: int


OCCUPATIONS = tuple(
    Occupation(*row)
    for row in (
        ("chief executive", "management", 10, 3, 20, 60, 300, 15),
        ("general manager", "management", 24, 3, 32, 60, 160, 12),
        ("financial manager", "management", 12, 3, 52, 70, 90, 12),
        ("sales manager", "management", 12, 3, 38, 10, 110, 12),
        ("education administrator", "management", 8, 4, 60, 400, 20, 10),
        ("farm manager", "management", 10, 1, 18, 5, 700, 5),
        ("accountant", "business", 22, 3, 58, 120, 110, 9),
        ("human resources specialist", "business", 12, 3, 66, 150, 30, 8),
        ("buyer", "business", 8, 2, 48, 80, 80, 7),
        ("engineer", "science and engineering", 24, 3, 12, 110, 60, 12),
        ("engineering technician", "science and engineering", 12, 2, 20, 120, 30, 8),
        ("programmer", "science and engineering", 26, 3, 28, 80, 70, 12),
        ("natural scientist", "science and engineering", 8, 4, 36, 260, 30, 10),
        ("social scientist", "science and engineering", 4, 4, 52, 200, 120, 9),
        ("physician", "health", 10, 4, 28, 90, 240, 15),
        ("nurse", "health", 26, 3, 92, 110, 15, 9),
        ("health technician", "health", 18, 2, 74, 110, 20, 6),
        ("health aide", "health", 24, 1, 88, 90, 40, 2),
        ("primary teacher", "education and law", 28, 4, 78, 500, 10, 7),
        ("secondary teacher", "education and law", 16, 4, 56, 520, 10, 8),
        ("college teacher", "education and law", 12, 4, 44, 480, 15, 9),
        ("lawyer", "education and law", 10, 4, 30, 160, 260, 14),
        ("social worker", "education and law", 14, 3, 62, 320, 15, 5),
        ("artist or writer", "education and law", 18, 3, 46, 30, 260, 6),
        ("police or guard", "protection", 20, 2, 22, 420, 15, 6),
        ("fire fighter", "protection", 5, 2, 6, 700, 5, 8),
        ("cook", "personal service", 28, 0, 42, 60, 50, 1),
        ("food server", "personal service", 32, 1, 72, 30, 20, 0),
        ("cleaner", "personal service", 36, 0, 46, 120, 90, 1),
        ("hairdresser", "personal service", 12, 1, 88, 5, 420, 2),
        ("child carer", "personal service", 20, 1, 95, 60, 260, 0),
        ("shop assistant", "sales", 48, 1, 52, 10, 60, 2),
        ("cashier", "sales", 30, 1, 78, 15, 15, 0),
        ("sales representative", "sales", 30, 2, 36, 5, 140, 9),
        ("estate or insurance agent", "sales", 18, 2, 50, 10, 300, 9),
        ("secretary", "office", 38, 2, 96, 140, 30, 4),
        ("bookkeeper", "office", 22, 2, 90, 70, 70, 4),
        ("clerk", "office", 52, 1, 66, 150, 20, 3),
        ("postal worker", "office", 8, 1, 36, 600, 5, 7),
        ("farm worker", "farming and construction", 14, 0, 22, 10, 60, 0),
        ("carpenter", "farming and construction", 20, 1, 3, 30, 260, 5),
        ("electrician or plumber", "farming and construction", 20, 1, 3, 60, 160, 8),
        ("construction labourer", "farming and construction", 24, 0, 4, 50, 140, 4),
        ("mechanic", "production and transport", 34, 1, 4, 70, 130, 6),
        ("machine operator", "production and transport", 46, 0, 32, 15, 15, 4),
        ("assembler", "production and transport", 26, 1, 40, 10, 15, 3),
        ("inspector", "production and transport", 10, 1, 40, 60, 15, 5),
        ("truck driver", "production and transport", 40, 1, 7, 60, 110, 6),
        ("freight handler", "production and transport", 34, 0, 18, 25, 20, 2),
        ("military", "protection", 8, 2, 12, 20, 1, 6),
    )
)
