"""Read a text with the installed package; run by itself, by CI on each built wheel."""

import sys

import spacy


def main() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("refreader")
    doc = nlp("Ann Lee met Bo Hart because she was late. He laughed at her.")
    clusters = [[span.text for span in cluster] for cluster in doc._.coref_clusters]
    compiled = [
        name
        for name, module in sys.modules.items()
        if name.startswith("refreader_spacy.")
        and str(module.__file__).endswith((".so", ".pyd"))
    ]
    print(clusters, *compiled)
    if ["Ann Lee", "she", "her"] not in clusters:
        sys.exit("The clusters are not as expected.")
    if not compiled:
        sys.exit("The wheel has no compiled kernel.")


if __name__ == "__main__":
    main()
