"""Lecture 2: a table without names.  Who knows that Rebecca is 55 and in it knows her diagnosis, but for two.

Run it with: python examples/lectures/anonymous.py
"""

import discreet as dp

ward = {
    "age": ["60-70"] * 5 + ["50-60"] * 4,
    "sex": ["Male", "Female", "Male", "Female", "Male", "Female", "Male", "Male", "Female"],
    "diagnosis": [
        *("Heart disease", "Arthritis", "Lung cancer", "Crohn's disease", "Lung cancer"),
        *("HIV", "Lyme disease", "Seasonal allergies", "Ulcerative colitis"),
    ],
}
rebecca = {"age": 55, "sex": "Female"}
left = dp.attack.anonymous([ward], rebecca, secret="diagnosis").details["left"][-1]
print(f"{len(left)} diagnoses are left: {', '.join(left)}")
