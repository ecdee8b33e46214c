"""What the made-up shop sells, where it delivers to, and what its terms say."""

SHOP = "Fernhollow Outfitters"
PRODUCTS = {
    "Alder two-person tent": 189.00,
    "Bramble trail boots": 129.50,
    "Cinder camping stove": 54.90,
    "Drift sleeping bag": 98.00,
    "Ember head torch": 34.95,
    "Fjord rain jacket": 149.00,
    "Gorse 45-litre backpack": 119.90,
    "Heath wool socks": 14.50,
    "Ivy enamel mug": 9.80,
    "Juniper trekking poles": 64.00,
    "Kestrel water filter": 42.25,
    "Larch folding chair": 47.60,
    "Marsh gaiters": 28.40,
    "Nettle insulated bottle": 26.75,
    "Otter dry bag, 20 litres": 22.30,
}
COUNTRIES = {
    "Germany": (4.90, "2 to 3"),
    "Austria": (7.90, "3 to 4"),
    "France": (8.50, "3 to 5"),
    "Spain": (11.90, "4 to 6"),
    "Denmark": (9.40, "3 to 4"),
    "Ireland": (14.20, "5 to 8"),
    "Norway": (18.60, "6 to 9"),
}
FREE_SHIPPING_FROM = 120.00
OPENERS = (
    "Thanks for getting in touch!",
    "Hi there!",
    "Hello, and thank you for your message.",
    "Good question!",
    "Happy to help.",
    "Thanks for your patience.",
    "",
    "",
)
CLOSERS = (
    "Let me know if anything is unclear.",
    "Is there anything else I can do for you?",
    "Enjoy your next trip!",
    "Just reply to this message if you need more help.",
    "Have a great day!!! And do not forget our summer sale!!!",
    "Please note that this information is given without obligation, that prices may change at any time until "
    "the order is confirmed, that our general terms and conditions apply in their current version, and that "
    "you find further details on availability, delivery areas and payment methods in the help section.",
    "",
    "",
    "",
)
#: For each topic: ways to ask, the answer, the facts it must name, and a wrong answer.
RETURNS = (
    (
        (
            "How long do I have to send something back?",
            "What is your return period?",
            "Until when can I return a parcel from last week?",
        ),
        "You can return items within 30 days of delivery. They must be unused and in their original packaging.",
        ("30 days", "original packaging"),
        "You can return items within 14 days of purchase, used or not.",
    ),
    (
        (
            "Can I return boots that I wore once outside?",
            "My boots are too small but I already walked in them. Return?",
        ),
        "Footwear worn outdoors cannot be returned. We gladly exchange the size within 14 days if the soles are clean.",
        ("cannot be returned", "14 days"),
        "Yes, worn footwear can be returned within 30 days, no questions asked.",
    ),
    (
        (
            "When will my money be back on my account?",
            "How long does a refund take once you have the parcel?",
        ),
        "Refunds are paid within 5 working days of our receiving the parcel. They go to the payment method you used.",
        ("5 working days", "payment method"),
        "Refunds are guaranteed to arrive the same day the parcel reaches us.",
    ),
    (
        (
            "Do I have to print the return label myself?",
            "I have no printer. How do I return my order?",
        ),
        "You do not need a printer. Show the QR code from your account at any parcel shop and keep the receipt.",
        ("QR code", "receipt"),
        "Yes, a printed label is always required and costs extra.",
    ),
)
WARRANTY = (
    (
        (
            "The zip of my jacket broke after eight months. Is that covered?",
            "What does the warranty on jackets include?",
        ),
        "Zips and seams are covered for 3 years. Please send a photo and your order number so that we can arrange the repair.",
        ("3 years", "photo"),
        "Zips are wear parts and are never covered.",
    ),
    (
        (
            "My tent pole snapped in a storm. Do you replace it?",
            "Tent pole broken, can I get a new one?",
        ),
        "Storm damage is not covered by the warranty. A replacement pole costs €18.00 and ships within 2 working days.",
        ("not covered", "2 working days"),
        "Storm damage is covered for life, we replace the whole tent free of charge.",
    ),
    (
        (
            "Does the guarantee still count if I bought the stove second hand?",
            "Is the warranty transferable?",
        ),
        "The warranty stays with the product for 2 years from first purchase. A copy of the first receipt is enough.",
        ("2 years", "first receipt"),
        "The warranty ends when the product changes hands.",
    ),
)
ADVICE = (
    (
        (
            "Which sleeping bag is right for minus five degrees?",
            "Is the Drift warm enough for frost?",
        ),
        "The Drift sleeping bag is comfortable down to -4 °C. For colder nights add the fleece liner, which gains about 5 degrees.",
        ("-4 °C", "liner"),
        "Any of our bags is absolutely safe down to -20 °C.",
    ),
    (
        ("How do I clean the water filter?", "My Kestrel filter has become slow. What can I do?"),
        "Backflush the filter with clean water after every trip. Replace the cartridge after 1,500 litres.",
        ("Backflush", "1,500 litres"),
        "The filter never needs cleaning, it lasts for ever.",
    ),
    (
        ("Can I use the stove inside the tent?", "Is it ok to cook in the porch of the Alder?"),
        "Never use a stove inside a tent: there is a risk of fire and carbon monoxide. Cook outside, at least 2 metres away.",
        ("carbon monoxide", "2 metres"),
        "Yes, with the door slightly open that is one hundred percent fine.",
    ),
)


#: A complaint and a good reply to it.
COMPLAINTS = (
    (
        "This is the third time my parcel is late. I am really annoyed.",
        "I am sorry about the delays. I have asked the carrier for a written explanation and will write to you tomorrow.",
    ),
    (
        "Your website logged me out four times while I paid!",
        "I apologise for the trouble. Our technicians are looking into it; your basket is still saved.",
    ),
    (
        "Nobody answers your phone.",
        "Sorry that you could not reach us. The line is open from 9 to 17 on working days, and I can help you right here.",
    ),
    (
        "The mug arrived in pieces.",
        "Oh no, I am sorry! Send me a photo please and a new one leaves today, at no cost.",
    ),
)
