"""Everyday texts of 27 kinds, written for this package, and what readers judged.

A judgement holds for the clusters that it was made of: where the weights find others,
the page leaves it out. `useful`, `empty` (little was found) or `embarrassing`.
"""

from __future__ import annotations

from typing import NamedTuple


class EverydayText(NamedTuple):
    """A text, and what a reader should make of it."""

    kind: str
    text: str
    wanted: str  # the entities that matter, in words


TEXTS = (
    EverydayText(
        "news",
        "The mayor of Riverton, Elena Duarte, resigned on Monday after auditors found "
        "that her office had hidden three contracts. Duarte denied any wrongdoing. "
        "The city council said it would name an interim mayor by Friday, and thanked "
        "her for her service.",
        "Duarte: the mayor, her, Duarte, her; the council: it",
    ),
    EverydayText(
        "e-mail",
        "Hi Priya,\n\nthanks for sending the draft. I read it on the train and left a "
        "few comments in it. Could you ask Tom whether he has the new figures? He "
        "promised them to me last week.\n\nBest,\nMarkus",
        "the draft: it, it; Tom: he, He; the figures: them; Markus: I, me",
    ),
    EverydayText(
        "chat with speakers",
        "Anna: Did you see Leo's new bike?\nBen: I did! He let me try it yesterday.\n"
        "Anna: Lucky you. I asked him, but he said it was too big for me.\n"
        "Ben: He is right, I can hardly reach the pedals.",
        "Leo: He, him, he, He; the bike: it, it; Anna: I, me; Ben: I, me, I",
    ),
    EverydayText(
        "product review",
        "I bought this kettle in May and I love it. It boils a litre in two minutes "
        "and its handle stays cool. My husband broke the lid, but the company sent us "
        "a new one for free. They even called him to ask whether it fitted.",
        "the kettle: it, It, its; my husband: him; the company: They; the lid: one, it",
    ),
    EverydayText(
        "fairy tale",
        "Once upon a time a miller had three sons. The youngest was called Hans, and "
        "his brothers laughed at him. One day an old woman met Hans in the wood and "
        "asked him for bread. He gave her all he had, and she gave him a whistle that "
        "no wolf could resist.",
        "Hans: The youngest, his, him, Hans, him, He, he, him; the woman: her, she",
    ),
    EverydayText(
        "football",
        "United beat Rovers 3-1 on Saturday. Okafor scored twice before he limped off "
        "with a knee injury. The striker will miss the cup final, their manager said. "
        "Rovers had taken the lead through Lindqvist, but they fell apart after the "
        "break, and their coach, Hanna Berg, said she was ashamed of them.",
        "Okafor: he, The striker; United: their; Rovers: they, their, them; Berg: she",
    ),
    EverydayText(
        "legal",
        "The Tenant shall pay the Rent to the Landlord on the first day of each month. "
        "If the Tenant fails to pay it within ten days, the Landlord may terminate "
        "this Agreement by written notice. She or her agent shall then be entitled to "
        "enter the Premises.",
        "the Tenant; the Landlord: She, her; the Rent: it",
    ),
    EverydayText(
        "recipe",
        "Peel the potatoes and boil them for twenty minutes. Drain them, then mash "
        "them with the butter. Whisk the eggs in a bowl and stir them into the mash. "
        "Put it in an oiled dish and bake it until the top is golden.",
        "the potatoes: them, them, them; the eggs: them; the mash: it, it",
    ),
    EverydayText(
        "company",
        "Volvo said on Tuesday that it would close its plant in Ghent. The carmaker "
        "employs 6,500 people there. Its chief executive, Jim Rowan, called the "
        "decision painful. He said the company had no choice.",
        "Volvo: it, its, The carmaker, Its, the company; Rowan: He",
    ),
    EverydayText(
        "biography",
        "Rosalind Franklin was born in London in 1920. Her father taught at the "
        "Working Men's College, and he wanted her to become a social worker. Franklin "
        "studied chemistry at Cambridge, where she took her degree in 1941. Her "
        "images of DNA made her famous after her death.",
        "Franklin: all her and she; her father: he",
    ),
    EverydayText(
        "encyclopedia",
        "The axolotl is a salamander that keeps its gills as an adult. It lives in the "
        "canals of Mexico City. The animal can regrow its limbs, and scientists study "
        "it for that reason. They hope to learn how it does so.",
        "the axolotl: its, It, The animal, its, it, it; scientists: They",
    ),
    EverydayText(
        "scientific abstract",
        "We present a method for measuring soil moisture from radar images. It needs "
        "no field data, and we show that it is as accurate as probes. The method was "
        "tested on three farms in Kenya. Their owners confirmed our maps.",
        "the method: It, it, The method; the authors: We, we, our; farms: Their",
    ),
    EverydayText(
        "medical note",
        "Mrs. Alvarez is a 62-year-old teacher with chest pain. She says that it began "
        "three days ago. Her daughter drove her to the clinic. Dr. Singh examined the "
        "patient and ordered an ECG; he will see her again when he has the result.",
        "Alvarez: She, Her, her, the patient, her; the pain: it; Singh: he, he",
    ),
    EverydayText(
        "support ticket",
        "The customer reports that the app crashes when she opens the camera. It "
        "worked before the update. I asked her to reinstall it, but that did not "
        "help. She wants a refund unless we fix it this week.",
        "the customer: she, her, She; the app: It, it, it",
    ),
    EverydayText(
        "meeting minutes",
        "Kofi presented the budget. Ingrid asked him why travel costs had doubled. He "
        "explained that the team had visited two fairs, and that they would not do so "
        "again. Ingrid thanked him and said she would inform the board. It meets on "
        "3 May.",
        "Kofi: him, He, him; Ingrid: Ingrid, she; the team: they; the board: It",
    ),
    EverydayText(
        "job advert",
        "Brightwater Ltd is looking for a gardener. The company looks after forty "
        "parks, and it is growing. You will work with our head gardener, Mr. Osei, who "
        "will train you himself. Send him your application by the end of June.",
        "Brightwater: The company, it; Osei: who, himself, him; you: you, your",
    ),
    EverydayText(
        "travel blog",
        "Our bus broke down outside Cusco, so we walked. An old farmer saw us and gave "
        "us tea. He told us about the earthquake that had destroyed his village. It "
        "had taken him ten years to rebuild his house, but he was proud of it.",
        "we: Our, us, us, us; the farmer: He, his, him, his, he; the house: it",
    ),
    EverydayText(
        "diary",
        "Mum came to visit today. She brought a cake and I ate half of it. We talked "
        "about Grandpa until it was dark; he used to carry me on his shoulders. I miss "
        "him. Mum does too, I think, but she never says so.",
        "Mum: She, Mum, she; I: I, me, I, I; Grandpa: he, his, him; the cake: it",
    ),
    EverydayText(
        "interview",
        "Reporter: Why did you leave the band?\nSinger: I was tired. Tony and I had "
        "fought for years, and he wanted to tour again.\nReporter: Do you still talk "
        "to him?\nSinger: We do. He came to my wedding, and my wife adores him.",
        "the singer: you, I, I, you, my, my; Tony: he, him, He, him",
    ),
    EverydayText(
        "court report",
        "A man who stole a police car was jailed for two years. Dean Hollis, 31, took "
        "the vehicle while two officers were arresting his friend. They chased him on "
        "foot. Judge Amara Cole told Hollis that he was lucky nobody had died. She "
        "also banned him from driving it or any other car.",
        "Hollis: A man, who, his, him, Hollis, he, him; the car; Cole: She",
    ),
    EverydayText(
        "history",
        "In 1066 William of Normandy crossed the Channel with his army. King Harold "
        "met him near Hastings. Harold's men were tired, since they had just marched "
        "from the north. An arrow is said to have killed the king. William was "
        "crowned at Christmas, and he ruled England for twenty years.",
        "William: his, him, William, he; Harold: Harold's, the king; men: they",
    ),
    EverydayText(
        "weather",
        "Storm Petra will reach the coast tonight. It is expected to bring heavy rain, "
        "and ferry companies have cancelled their evening sailings. The storm should "
        "weaken on Thursday as it moves inland.",
        "the storm: It, The storm, it; the companies: their",
    ),
    EverydayText(
        "instructions",
        "Unplug the printer before you open it. Lift the scanner until it clicks, then "
        "remove the old cartridge and put it in the bag it came in. Push the new one "
        "into its slot. When the printer starts, it will print a test page; keep it.",
        "the printer: it, the printer, it; the old cartridge: it, it; the page: it",
    ),
    EverydayText(
        "gossip",
        "Did you hear? Carla finally told Mike that she is moving to Lisbon. He cried, "
        "poor thing. Her sister says they will try it long-distance, but I don't "
        "believe her. She never liked him anyway.",
        "Carla: she, Her; Mike: He, him; the sister: her, She; the couple: they",
    ),
    EverydayText(
        "obituary",
        "Giuseppe Marchetti, who made violins in Cremona for sixty years, has died at "
        "88. He built his first instrument at the age of twelve; it still hangs in the "
        "workshop that his granddaughter Lucia runs. She learned the craft from him.",
        "Marchetti: who, He, his, his, him; the instrument: it; Lucia: She",
    ),
    EverydayText(
        "novel",
        '"You are late," said Mrs. Hale, and she put down her book. Margaret did not '
        "answer. She had walked all the way from the station, and her feet hurt. "
        '"Father kept me," she said at last. "He could not find his spectacles."',
        "Mrs. Hale: she, her; Margaret: She, her, You, me, she; Father: He, his",
    ),
    EverydayText(
        "school essay",
        "My best friend is called Noor. She is taller than me and she runs very fast. "
        "Her parents have a bakery, and they give us buns after school. We eat them on "
        "the bridge. When Noor laughs, everybody laughs with her.",
        "Noor: She, she, Her, Noor, her; her parents: they; I: My, me; buns: them",
    ),
)

# By kind: a fingerprint of the clusters, and what a reader said of them
JUDGEMENTS: dict[str, tuple[str, str]] = {
    "news": ("1defb0df", "useful"),
    "e-mail": ("db3eb3e9", "useful"),
    "chat with speakers": ("8a7b0c9e", "useful"),
    "product review": ("c45137ec", "useful"),
    "fairy tale": ("9cbdf048", "useful"),
    "football": ("c6f85d4a", "useful"),
    "legal": ("f757dcf2", "useful"),
    "recipe": ("54a492e0", "useful"),
    "company": ("9f61dd30", "useful"),
    "biography": ("db772a11", "useful"),
    "encyclopedia": ("3ed6db34", "useful"),
    "scientific abstract": ("1d5bdc75", "useful"),
    "medical note": ("0caebeb5", "useful"),
    "support ticket": (
        "80d3c987",
        "useful, though the last *it* is with the refund, which resolved text leaves",
    ),
    "meeting minutes": ("cf4f9c8d", "useful"),
    "job advert": ("9427e6a0", "useful"),
    "travel blog": ("ab65d8c7", "useful"),
    "diary": ("22044e65", "useful"),
    "interview": ("d68a6ef6", "useful"),
    "court report": ("b73ead22", "useful"),
    "history": ("d9e8f08a", "useful"),
    "weather": ("7ef8b753", "useful"),
    "instructions": ("96d7d9ae", "useful"),
    "gossip": ("cc0ada02", "embarrassing, Carla and her sister are one person"),
    "obituary": ("59995333", "useful"),
    "novel": ("cbd6c0ca", "useful"),
    "school essay": ("9a322ff9", "useful"),
}
