"""What is English: pronouns, titles, given names and their genders."""
