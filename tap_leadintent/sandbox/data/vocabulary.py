"""Names, places and words that records are made of."""

# ruff: noqa: RUF001 - many alphabets are the point

from __future__ import annotations

# Country code, given names, family names; as the person would write them.
PEOPLE: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    (
        "US",
        ("Olivia", "Jamal", "Grace", "Tyler", "Renée", "Diego"),
        ("Johnson", "O'Connor", "Washington", "Nguyen", "Martínez", "Smith-Jones"),
    ),
    (
        "GB",
        ("Imogen", "Callum", "Siân", "Rhys", "Priya", "Oluwaseun"),
        ("Hughes", "MacLeod", "Patel", "Featherstonehaugh", "Adebayo", "Clarke"),
    ),
    (
        "DE",
        ("Jürgen", "Anneliese", "Sören", "Käthe", "Björn", "Uğur"),
        ("Müller", "Weiß", "Schröder", "von der Heide", "Yıldız", "Großmann"),
    ),
    (
        "FR",
        ("François", "Zoé", "Maëlys", "Jérôme", "Aïcha", "Loïc"),
        ("Lefèvre", "d'Aubigné", "Benoît", "Diallo", "Garçon", "Château"),
    ),
    (
        "ES",
        ("Íñigo", "María José", "Begoña", "Iker", "Nuria", "Ángel"),
        ("Núñez", "García Márquez", "Ibáñez", "Etxeberria", "Muñoz", "Peña"),
    ),
    (
        "PL",
        ("Łukasz", "Małgorzata", "Zbigniew", "Agnieszka", "Żaneta", "Paweł"),
        ("Wiśniewski", "Kowalczyk", "Źródłowska", "Dąbrowski", "Święch", "Nowak"),
    ),
    (
        "JP",
        ("美咲", "健太", "さくら", "大輔", "陽子", "翔"),
        ("佐藤", "鈴木", "髙橋", "渡邉", "山本", "伊藤"),
    ),
    (
        "CN",
        ("伟", "秀英", "雨桐", "建国", "子涵", "丽"),
        ("王", "李", "欧阳", "赵", "陈", "诸葛"),
    ),
    (
        "KR",
        ("서연", "민준", "지우", "현우", "하은", "도윤"),
        ("김", "이", "박", "최", "정", "강"),
    ),
    (
        "AE",
        ("محمد", "فاطمة", "عمر", "ليلى", "خالد", "نور"),
        ("الهاشمي", "بن راشد", "المنصوري", "النعيمي", "الفارسي", "حداد"),
    ),
    (
        "IN",
        ("Aarav", "प्रिया", "Lakshmi", "Rohan", "अर्जुन", "Meenakshi"),
        ("Sharma", "Iyer", "गुप्ता", "Krishnamurthy", "Singh", "Chatterjee"),
    ),
    (
        "BR",
        ("João", "Conceição", "Thaís", "Antônio", "Iracema", "Luís"),
        ("Gonçalves", "da Silva", "Araújo", "Magalhães", "Corrêa", "Brandão"),
    ),
    (
        "UA",
        ("Олена", "Ярослав", "Ївга", "Тарас", "Наталія", "Богдан"),
        ("Шевченко", "Коваленко", "Бойко", "Лисенко", "Гончар", "Мельник"),
    ),
    (
        "IS",
        ("Þórdís", "Ægir", "Guðrún", "Björk", "Sigurður", "Ásgeir"),
        ("Jónsdóttir", "Þorsteinsson", "Einarsson", "Ragnarsdóttir", "Óskarsson"),
    ),
    (
        "VN",
        ("Thị Hương", "Văn Đức", "Ngọc Ánh", "Minh Quân", "Thuỷ", "Hữu"),
        ("Nguyễn", "Trần", "Phạm", "Đặng", "Võ", "Huỳnh"),
    ),
)
FAMILY_FIRST = frozenset({"JP", "CN", "KR", "VN"})
UNSPACED = frozenset({"JP", "CN", "KR"})

TITLES = (
    "VP of Sales",
    "Head of Revenue Operations",
    "Chief Information Security Officer",
    "Director, Data & Analytics",
    "Leiter Einkauf (m/w/d)",
    "Directrice Générale Adjointe",
    "採用担当マネージャー",
    "Co-Founder & CTO 🚀",
    "Senior Manager – Supply Chain",
    "Procurement Lead, EMEA/APAC",
    "مدير تطوير الأعمال",
    "Gerente de Inovação",
)

COMPANY_FIRST = (
    "Nord",
    "Blue Harbor",
    "Quanta",
    "Verde",
    "Kopernik",
    "Sakura",
    "Ostrów",
    "Lumière",
    "Atlas",
    "Føniks",
    "Zenith",
    "Pico",
    "Häfele",
    "Amihan",
    "Tundra",
    "Río Claro",
    "Ember",
    "Kestrel",
    "Monsoon",
    "Öresund",
)
COMPANY_SECOND = (
    "Logistics",
    "Robotics",
    "Health",
    "Analytics",
    "Énergie",
    "Foods & Co.",
    "Bank",
    "Cloud",
    "Materials",
    "Therapeutics",
    "Mobility",
    "Software",
    "Semiconductors",
    "Media",
    'Labs "X"',
)
COMPANY_FORM = (
    "Inc.", "GmbH", "S.A.S.", "株式会社", "Ltd", "Sp. z o.o.", "AB", "", ""
)  # fmt: skip
DOMAIN_ENDINGS = ("com", "io", "de", "co.jp", "fr", "ai", "com.br", "co.uk", "is")

SHEETS = (
    "EMEA Enterprise",
    "Mid-market US",
    "日本市場",
    "Sécurité – Q3",
    "Healthcare & Life Sciences",
    "Fintech / Neobanks",
    "Competitor displacement 🎯",
    "Partners",
)

# Signal identifier, display name, summary.
SIGNALS = (
    ("hiring_for_role", "Hiring for a role", "is hiring {n} people for {topic}"),
    ("leadership_change", "New leader", "named a new leader for {topic}"),
    ("funding_round", "Funding round", "raised € {n} million for {topic} 💶"),
    ("job_change", "Job change", "has a new decision maker for {topic}"),
    ("competitor_engagement", "Competitor engagement", "asked a rival about {topic}"),
    ("technology_adopted", "Technology adopted", "adopted a tool for {topic}"),
    ("office_expansion", "Office expansion", "opens an office with {topic} 🏢"),
    ("content_engagement", "Content engagement", "reacted to {n} posts on {topic} 👍"),
    ("event_attendance", "Event attendance", "spoke about {topic} at an event 🎤"),
    ("regulatory_filing", "Regulatory filing", "disclosed {n} risks around {topic}"),
)

TOPICS = (
    "revenue operations",
    "cloud cost control",
    "SOC 2 and ISO 27001",
    "customer data platforms",
    "supply-chain visibility",
    "Lieferkettengesetz compliance",
    "生成AIの導入",
    "data warehouse migration",
    "la facturation électronique",
    "sales forecasting",
)

CUSTOM_SIGNALS = (
    ("Opens a site in the Nordics", "The company announces an office in DK, SE or NO."),
    ("Hires a data engineer", "A job posting asks for dbt, Airflow or Snowflake."),
    ("Files a cyber incident", "A filing discloses a material security incident."),
    ("Adopts Kubernetes", "Engineering posts or job ads mention Kubernetes."),
    ("Nouvelle direction", "Un nouveau directeur financier est nommé."),
    ("値上げ発表", "The company announces a price increase in Japan."),
    ("Raises prices 📈", "A price increase of more than 5 % is published."),
    ("Leaves a competitor", "A migration away from a competitor is mentioned."),
)
