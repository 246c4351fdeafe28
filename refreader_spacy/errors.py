"""Every message this package can raise, one code each."""

from spacy.errors import ErrorsWithCodes


class Errors(metaclass=ErrorsWithCodes):
    """Say what was expected, what was found, where, and what to do."""

    # Model and component
    R001 = (
        "The encoder gives vectors of width {found}, but the '{name}' model was "
        "built for width {expected}. Set components.{name}.model.width = {found}."
    )
    R002 = (
        "The '{name}' component has a model of its own that was never trained. Train "
        "it with `spacy train` or call nlp.initialize() first, load trained weights "
        "with spacy.load, or add it with no model in the config to use the weights "
        "that come with the package."
    )
    R003 = (
        "The '{name}' encoder reads word vectors, but this pipeline's vocab has none. "
        "Set [initialize] vectors to a pipeline with vectors when you train, load a "
        "pipeline that has them, or choose an encoder that learns its own embeddings "
        "such as spacy.HashEmbedCNN.v2."
    )
