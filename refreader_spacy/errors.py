"""Every message this package can raise, one code each."""

from spacy.errors import ErrorsWithCodes


class Errors(metaclass=ErrorsWithCodes):
    """Say what was expected, what was found, where, and what to do."""

    # Model and component
    R001 = (
        "The encoder gives vectors of width {found}, but the reader was built for "
        "width {expected}. Set components.refreader.model.width = {found}."
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
    R004 = (
        "The pipeline's word vectors have width {found}, but the '{name}' encoder was "
        "built for width {expected}. Set width = {found} for it and for the reader."
    )
    R005 = (
        "The weights don't fit the model: {problem}. They were saved by a model with "
        "other sizes; load them with the config.cfg that was saved beside them."
    )
    R006 = (
        "The '{name}' component found no gold clusters in the first {n_docs} training "
        "documents. It learns from span groups named '{prefix}_1', '{prefix}_2', ... "
        "on the reference Doc; put them there, or read GAP files with the reader "
        "refreader-spacy.GapCorpus.v1."
    )
    R007 = (
        "A threshold is a probability between 0 and 1, but '{name}' was given {found}."
    )
    R008 = (
        "There is no data at {path}. Make it with `refreader corpus`, or write a "
        "DocBin of gold Docs there."
    )
    R009 = (
        "The data has no gold clusters to find a threshold with. They are span groups "
        "named '{prefix}_1', '{prefix}_2', ...; GAP's rows have groups 'gap_pronoun', "
        "'gap_a' and 'gap_b' besides."
    )
    R010 = (
        "There are no results on GAP in the folder {folder}. Make some with `spacy "
        "project run coref-only`, after `refreader assets --from DIR`."
    )
    R012 = (
        "The package has no reader named '{name}', only {known}. A pipeline that was "
        "saved with another version of refreader-spacy needs that version."
    )
    R015 = (
        "A reader's sizes are at least 1, but {name} is {found}. Correct "
        "components.refreader.model.{name}."
    )
    R016 = (
        "There is no loss weight '{found}', only {known}. Correct "
        "components.refreader.model.loss_weights."
    )
    R017 = "A scheme is one of {known}, but found '{found}'. Choose one of them."
    R018 = (
        "The package's weights '{name}' don't fit the model: {problem}. Take the "
        "[components.refreader.model] that `refreader init-config` writes, or leave "
        "`weights` out of [initialize.components.refreader] to start from fresh ones."
    )
    R025 = (
        "The weights '{name}' of the package are for the vectors of a transformer: "
        "{problem} Either be online the first time, so that it can be fetched, or give "
        "the folder that it is in: nlp.add_pipe('refreader', config={{'model': "
        "{{'@architectures': 'refreader-spacy.PackagedReader.v1', 'name': '{name}', "
        "'transformer': 'FOLDER'}}}})."
    )
    R026 = (
        "The weights '{name}' of the package need no transformer, but found "
        "transformer = '{found}'. Leave it out."
    )
    R027 = (
        "The weights '{name}' of the package are no language model, so they can't tell "
        "how unexpected words are. Take 'en_smollm2', or leave out surprisal = true."
    )
    R019 = (
        "The weights '{name}' are not in the package any more, only their config. "
        "Leave `weights` out of [initialize.components.refreader], or install the "
        "version of refreader-spacy that had them."
    )
    R020 = "There is a file {path} already. Overwrite it with --force, or name another."
    R021 = (
        "The pipeline '{name}' has no word vectors. Name one that has, such as "
        "en_core_web_md, or leave --vectors out to start from the package's weights."
    )
    R022 = (
        "The data of '{name}' can't be loaded ({problem}): it was changed, or is of "
        "another model. Load it with the config.cfg that was saved beside it, or save "
        "the pipeline again."
    )
    R023 = (
        "{name} should be {expected}, but is {found}. Correct "
        "components.refreader.model.{name}."
    )

    # GAP: files, corpus, scores
    R100 = (
        "{path} should be UTF-8 text, but it is not: {found}. Save it again as UTF-8, "
        "or check that the download is complete."
    )
    R101 = (
        "{path}, line 1: a GAP file starts with a header, but the columns {missing} "
        "are not in it. Found: {found}. Add them, separated by tabs, or give a GAP "
        "file."
    )
    R102 = (
        "{path}, line {line}: expected the columns {expected}, separated by tabs, but "
        "found {found} column(s). Look for a missing or an extra tab or line break."
    )
    R103 = (
        "{path}, line {line}: expected the {column} {expected!r} at character {offset} "
        "of the text, but found {found!r} there. Correct the {column} or its offset, "
        "which counts characters (not bytes) from 0; it can't be empty."
    )
    R104 = (
        "{path}, line {line}: expected TRUE or FALSE as {column}, but found {found!r}. "
        "Correct the label."
    )
    R105 = (
        "{path}, line {line}: expected an id of its own, but {found!r} is also the id "
        "of line {earlier}. Rename or remove one of the two."
    )
    R106 = "{path} should have at least one row, but it has none. Is it the right file?"
    R107 = (
        "{path}, line {line}: expected one of the pronouns {expected}, because GAP's "
        "metric compares genders, but found {found!r}. Correct or remove the row."
    )
    R108 = (
        "The system answers {n} rows that are not in the gold file, such as {found}. "
        "Check that both belong to the same part of GAP."
    )
    R109 = (
        "GAP is scored with the probability of links between tokens, but the Doc that "
        "starts with {text!r} has no record of the reader's gates. Set trace = true on "
        "the refreader component, in its config or by nlp.get_pipe, and run it again."
    )
    R110 = (
        "Expected a pipeline with a refreader component, but '{name}' has only "
        "{found}. Choose another pipeline, or leave it out to use the weights in "
        "the package."
    )
    R111 = (
        "Expected the tokenizer to keep {text!r} at character {offset}, but it made "
        "it {found!r}. Use a tokenizer that keeps the text as it is, as spaCy's "
        "do."
    )
    R112 = (
        "Gold and predicted clusters can be compared only over the same text, but gold "
        "begins with {key!r} ({n_key} characters without white space) and the other "
        "with {response!r} ({n_response}). Give both for the same documents, in the "
        "same order."
    )
    R113 = (
        "{key} has {n_key} documents and {response} has {n_response}. Give both for "
        "the same documents, in the same order."
    )

    # Assets and the project
    R180 = (
        "{path} is not what project.yml names: its MD5 checksum should be {expected}, "
        "but it is {found}. The file is damaged or of another version, and nothing was "
        "changed. Delete it, fetch it again and run this command once more."
    )
    R181 = (
        "None of the project's assets is in {folder}. It should be laid out like "
        "the project's assets folder and hold, for example, {example}. Give --from "
        "the folder that holds them."
    )
    R182 = (
        "Only a part of the assets is in place: {missing} is missing, so there is "
        "nothing consistent to train on. Fetch it with `spacy project assets` or "
        "`refreader assets --from DIR` (vectors can also be made from GloVe with "
        "`spacy project run vectors`), or take {present} away to use the demo corpus."
    )

    R190 = "Expected {name} of the shape {expected}, but found {found}."
    R191 = (
        "The texts' lengths {found} don't add up to the {expected} tokens that are "
        "given."
    )
    R192 = (
        "No reading could have left the memory in this state: {problem}. Start a new "
        "reading, or resume one from data that was saved by this version."
    )
    R193 = "The memory has no cells. Set n_cells to 1 or more."
    R194 = (
        "What mention {mention} is described by is out of range. Describe mentions "
        "with describe_mentions, by the same version as the reader's."
    )
    R195 = "The compiled reader can't compare {feature}: it has no such field or set."
    R196 = "There are {found} features, but room for {most}. Raise MOST_FEATURES."

    # Pictures and the command line
    R220 = "There is no picture {found!r}, only {known}."
    R221 = (
        "Gold entities are marked in pictures of the memory, but this is one of the "
        "clusters. Leave out gold, or set style='memory'."
    )
    R222 = (
        "The memory can't be drawn, because the Doc that starts with {text!r} has no "
        "record of it. Set nlp.get_pipe('refreader').trace = True and run the pipeline "
        "on the text again."
    )
    R223 = (
        "Expected gold entities in the Doc's span groups '{prefix}_1', '{prefix}_2', "
        "..., but it has only the groups {found}. Set gold to their prefix, or to a "
        "Doc that has them."
    )
    R224 = (
        "The gold Doc should have the same text as the one to draw, which starts with "
        "{expected!r}, but it starts with {found!r}. Set gold to another Doc."
    )
    R225 = (
        "Images in PNG need the library resvg_py. Install it with `pip install "
        "'refreader-spacy[png]'`, or write a .svg file."
    )
    R226 = (
        "There is no file {path} to read. Check the path; a text itself can come from "
        "standard input, with `-` in the file's place."
    )
    R227 = (
        "Expected a file that ends in one of {known} to write to, or a folder with "
        "--format, but found {path}."
    )
    R228 = "expected a JSON object, but found {found}"
    R229 = "Standard output can't be continued. Give -o, or leave out --resume."
    R230 = (
        "There is nothing to go on with at {path}. Leave out --resume to write it "
        "anew, or check the path."
    )
    R231 = (
        "The run in {path} was started with other inputs or settings ({found}). "
        "Nothing was changed. Give those again, or leave out --resume and write to "
        "another place."
    )
    R232 = "{path} is both input and output. Give -o another file."
    R233 = (
        "A worker process ended before it could read anything, most often because "
        "there was no memory left for it. Take fewer processes (-n); what was done is "
        "kept, and --resume goes on from there."
    )
    R234 = "it took longer than {seconds:g} seconds"
    R235 = (
        "its process ended (exit code {code}), most often for want of memory or "
        "because of a fault in a library"
    )

    R236 = "There are no files in the folder {path}. Check the path."
    R237 = (
        "expected a string as '{field}', but found an object with {found}. Name its "
        "field with --text-field"
    )
    R238 = "it is longer than {limit:,} bytes"
    R239 = "it is no UTF-8 text: {found}"
    R240 = "'{field}' has half a character, which can't be written: {found}"
    R241 = "it can't be read on: {found}"
    R242 = (
        "Files that end in {suffix} need the library {library}. Install it with `pip "
        "install 'refreader-spacy[{extra}]'`."
    )
    R243 = (
        "There is a run in {path} already. Go on with it by --resume, or give another "
        "folder."
    )
    R244 = (
        "{path}, line {line}: expected what `refreader annotate` notes there, but "
        "found {found!r}. Give another folder, or delete this one."
    )
    R245 = (
        "The columns {expected} are expected in {path}, but it has only {found}. Name "
        "them with --text-field and --id-field"
    )
    R246 = (
        "--engine ray needs the library ray. Install it with `pip install "
        "'refreader-spacy[ray]'`."
    )
    R247 = (
        "With --engine ray, all machines read files and write shards themselves: "
        "standard input and output are for --engine local. Give files, and -o a place "
        "that all machines see."
    )
    R271 = (
        "No Ray cluster could be {how}: {problem}. Look at its log (under /tmp/ray), "
        "or use --engine local."
    )

    R277 = (
        "Another run is writing to {path}. Wait until it ends, or give another folder."
    )
    R278 = "There is no standard {name}: it is closed."
    R276 = "the row can't be read: {found}"
    R272 = "'{field}' has a number that JSON has no word for: {found}"
    R248 = "'{field}' is nested or longer than {limit:,} bytes; a string may be longer"
    R249 = (
        "expected 'speakers' as [[start, end, name], ...] in characters of the text, "
        "or 'turns' as [{'speaker': name, 'text': text}, ...]"
    )

    # Streams
    R250 = (
        "A stream decides on each token as it comes, but the encoder of '{name}' looks "
        "at the tokens around it. Use a reader with an encoder of single tokens, such "
        "as the weights that come with the package, refreader-spacy.FixedVectors.v1 or "
        "spacy.MultiHashEmbed.v2; or read the whole text as one Doc."
    )
    R251 = (
        "The '{name}' component was made without a pipeline, so a stream has no "
        "tokenizer for strings. Set the stream's tokenizer, or feed Docs or tokens."
    )
    R252 = (
        "This stream is closed: its text has ended. Call reset() to read another text, "
        "or make a new stream."
    )
    R273 = (
        "A stream is fed text, a Doc, a Span or a list of words that aren't empty, but "
        "this is {found}."
    )
    R274 = (
        "The {what} has half a character, which is no text: {found}. Decode it with "
        "errors='replace', or leave it out."
    )
    R275 = "A speaker is named by a string, but this is of type {found}."
    R253 = (
        "A stream reads a text in pieces, and the transformer under '{name}' needs "
        "what comes before them, but the pipeline has no component before '{name}' "
        "that keeps it (upstream = '{upstream}'). Load both with one pipeline, where "
        "the transformer is a refreader-spacy.Transformer.v1 and isn't disabled."
    )
    R254 = (
        "The stream can't be saved: {problem}. The meta of a piece should be what JSON "
        "knows: text, numbers, true and false, None, lists and dicts."
    )
    R255 = (
        "Expected a stream as to_bytes gave it ('{expected}'), but found other data. "
        "One that another version saved needs that version of refreader-spacy."
    )
    R256 = (
        "The stream was saved with a component named '{name}', but the pipeline has "
        "only {found}. Load it with the pipeline that it was made with."
    )
    R257 = (
        "The saved stream can't be read ({name}): it was changed, or saved with "
        "another model. Load it with the pipeline that it was made with, from bytes as "
        "to_bytes gave them."
    )

    # The page
    R259 = "The text did not come within {seconds:g} seconds. Send it again."
    R258 = (
        'Expected a JSON object such as {{"text": "Ann lost her key."}}, but: {found}. '
        "The description is at /openapi.json."
    )
    R260 = (
        "The page needs the libraries starlette and uvicorn. Install them with `pip "
        "install 'refreader-spacy[page]'`."
    )
    R261 = (
        "The page reads texts of up to {limit:,} bytes, but this one has more. Give it "
        "a part, or read the whole with `refreader annotate`, which has no limit."
    )
    R262 = (
        "The text should be UTF-8, but it is not: {found}. Save it again as UTF-8, or "
        "check that it is a text."
    )
    R263 = "Expected a threshold between 0 and 1, but found {found!r}."
    R264 = "This text is no longer stored: later ones have replaced it. Read it again."
    R265 = (
        "The page can't be served at {host}:{port}: {problem}. Choose another "
        "--port (0 takes any that is free), or another --host."
    )

    R266 = (
        "Reading this text takes longer than {seconds:g} seconds. Give a part of it, "
        "or read the whole with `refreader annotate`."
    )
    R267 = "This text can't be read on: {problem}. Give a part of it, or another text."
    R268 = (
        "The page isn't served as {host!r}. Open it at the address that `refreader "
        "serve` printed, or allow the name with --allow-host."
    )
    R269 = "The request comes from {origin}, but only the page itself may ask."
    R279 = "{limit} clients are connected, as many as may be. Come again in a minute."

    # Files that commands are given
    R270 = (
        "There is no file {path}. Check the path; `spacy project assets` fetches GAP "
        "into assets/gap, and `refreader assets --from DIR` takes it from a folder."
    )

    # A transformer underneath
    R300 = (
        "A transformer under the reader needs more libraries, and '{missing}' is not "
        "installed. Install them with `pip install 'refreader-spacy[transformers]'`."
    )
    R301 = (
        "The transformer '{name}' can't be loaded: {problem}. Set [paths] transformer "
        "(or components.transformer.model.name) either to the name of a model on the "
        "Hugging Face hub and be online the first time it is used, or to a folder on "
        "this machine with its config.json, tokenizer and weights."
    )
    R302 = (
        "Expected the numbers of a transformer's hidden layers, each once, such as "
        "[5, 6, 7, 8] (0 is the embeddings), but found {found}. Correct "
        "components.transformer.model.layers."
    )
    R303 = (
        "Windows of {window} word pieces can't start every {stride}: a stride should "
        "be at least 1 and at most the window. Correct "
        "components.transformer.model.stride."
    )
    R304 = (
        "{found} layers can't be trained, as the highest layer that is used is number "
        "{n_layers}. Set components.transformer.model.trained_layers to at most that; "
        "0 freezes the transformer."
    )
    R305 = (
        "{found} layers of the transformer are trained, but they wouldn't be saved. "
        "Set components.transformer.model.save_weights = true, or trained_layers = 0; "
        "or train small additions to them by adapter_rank = 16, which are saved anyway."
    )
    R306 = (
        "The transformer '{name}' can't be used: expected an encoder or a decoder with "
        "a fast tokenizer (a tokenizer.json), but it has an encoder and a decoder, or "
        "a slow tokenizer. Choose another model."
    )
    R307 = (
        "The transformer '{name}' has {n_layers} layers, but {found} were asked for. "
        "Correct components.transformer.model.layers."
    )
    R308 = (
        "With lookahead = false a token's vector should not depend on what follows, "
        "but in the transformer '{name}' it does. Choose a causal model such as gpt2, "
        "or set lookahead = true and take configs/transformer.cfg as an example."
    )
    R309 = (
        "The transformer '{name}' reads at most {limit} word pieces at once, but "
        "components.transformer.model.window is {found}. Set it to {limit} or less."
    )
    R310 = (
        "The vectors of a transformer can't be kept on disk while {found}. Take "
        "refreader-spacy.keep_features.v1 out of [initialize.after_init], or set "
        "trained_layers = 0 and surprisal = false in components.transformer.model."
    )
    R311 = (
        "The transformer '{name}' isn't the one that this pipeline was trained with: "
        "its weights, its tokenizer, or the layers and windows of the config differ. "
        "Give the original by spacy.load(..., config={{'components': {{'transformer': "
        "{{'model': {{'name': ...}}}}}}}}), or train again."
    )
    R312 = (
        "No transformer has read the Doc that starts with {text!r}. Put a "
        "'transformer' component before this one in the pipeline, and don't disable "
        "it."
    )
    R313 = (
        "There is no 'transformer' component before this one (upstream = "
        "'{upstream}'), or it was not initialized. Add one to the pipeline, as "
        "configs/transformer.cfg does; to keep its weights as they are, set "
        "trained_layers = 0 for it instead of naming it in frozen_components."
    )
    R314 = (
        "Expected one vector of width {expected} for each token from the transformer, "
        "but found an array of shape {found}. Give the 'transformer' component the "
        "architecture refreader-spacy.Transformer.v1 and the layers it was trained "
        "with."
    )
    R315 = (
        "There are no trained weights at {path} to start from. Train them first, for "
        "example with `spacy project run transformer` or `pretrain`, or start from "
        "fresh weights with [paths] source = null."
    )

    R316 = (
        "Surprisal is how unexpected a word is after those before it, so it needs a "
        "causal language model: set components.transformer.model.lookahead = false "
        "and take configs/general_causal.cfg as an example, or set surprisal = false."
    )
    R317 = (
        "The pipeline was saved without the layers of '{name}' that predict words. Set "
        "components.transformer.model.surprisal = false, or save it again with "
        "surprisal = true from a pipeline that names its transformer."
    )
    R318 = (
        "The tokenizer of '{name}' has no piece that begins a text, so nothing "
        "predicts the first word. Set components.transformer.model.surprisal = false, "
        "or choose another language model."
    )
    R336 = (
        "The layers of {name} have no linear layers that something could be added to. "
        "Set components.transformer.model.adapter_rank = 0 and save_weights = true."
    )
    R337 = (
        "The additions to the transformer's weights that were saved don't fit: the "
        "transformer, adapter_rank or trained_layers differ from those of training. "
        "Load the pipeline with the config that it was saved with."
    )
    R338 = (
        "adapter_rank should be 0, or positive beside trained_layers, but found {rank} "
        "with trained_layers = {found}. Correct components.transformer.model."
    )
    R339 = (
        "A transformer inside of the reader is frozen, but trained_layers is {found}. "
        "Set it to 0, or train with a `transformer` pipe, as configs/"
        "transformer_finetune.cfg has it."
    )
    R319 = (
        "The transformer under '{name}' wasn't asked for surprisal. Set "
        "components.transformer.model.surprisal = true beside "
        "components.{name}.surprisal, in the config or by spacy.load(..., config=...); "
        "its vectors stay as they are."
    )

    # Pretraining on plain text
    R320 = "Expected text in a file that ends in one of {known}, but found {path}."
    R321 = (
        "There is no text at {path}. Check the path, in [paths] raw_text of the config "
        "or by --paths.raw_text; `refreader assets --from DIR` takes the biographies "
        "that the project uses from a folder."
    )
    R322 = (
        "{path} can't be read to its end as UTF-8 text: {found}. Check that the "
        "download is complete, or save it again as UTF-8."
    )
    R323 = (
        "{path}, line {line}: expected a JSON object with a string 'text', but found "
        "{found!r}. Correct or remove the line."
    )
    R324 = (
        "{path} has {n_articles} articles, but held_out is {held_out}. Some should be "
        "held out and some left: give a text with more articles (in a .txt, a line "
        "`= Name =` begins one, or a blank line ends it), or correct held_out."
    )
    R325 = (
        "`refreader pretrain` needs a config with a [pretraining] section that has the "
        "objective refreader-spacy.NextWord.v1, the batcher refreader-spacy.blocks.v1 "
        "and a corpus refreader-spacy.PlainText.v1. Take configs/lm.cfg as an example."
    )
    R326 = (
        "Pretraining learns word vectors inside the model, but its encoder is "
        "'{found}'. Set the @architectures of components.refreader.model.tok2vec to "
        "refreader-spacy.WordVectors.v1."
    )
    R327 = (
        "The learning rate is 0 before the end: {n_passes} pass(es) over this text are "
        "{n_steps} steps. Set total_steps of [pretraining.optimizer.learn_rate] to "
        "more than that, or lower [pretraining] max_epochs."
    )
    R328 = (
        "The run in {path} was started with another [{section}]. Continue with the "
        "config that it was started with, or give another folder."
    )
    R329 = (
        "There is a run in {path} already. Continue it with --resume, or give another "
        "folder."
    )
    R330 = (
        "The model of '{name}' can't predict words: its weights have no output layer. "
        "Small weights that can are made by `spacy project run lm-memory`, in "
        "training/lm_memory/model-best; or put a causal language model underneath, as "
        "configs/general_causal.cfg does, with surprisal = true for both components."
    )
    R331 = (
        "`spacy pretrain` can't carry the reader's state from one block of a text to "
        "the next. Use `refreader pretrain`, which reads the same config."
    )
    R332 = (
        "There are no words in {path} to measure perplexity with. Is it the right file?"
    )

    # Articles, baselines and comparisons
    R340 = (
        "None of the rows of {paths} has the address of an article that is wanted: "
        "expected a URL with /wiki/ in it, such as "
        "http://en.wikipedia.org/wiki/Ada_Lovelace. Give GAP's files, and other files "
        "than with --without."
    )
    R341 = (
        "The request to {api} failed: {problem}. What was fetched so far is kept; "
        "run the same command again to go on. If it never works, check the network "
        "and that --api is the address of a MediaWiki API, such as "
        "https://en.wikipedia.org/w/api.php."
    )
    R342 = (
        "The wiki at {api} gave another answer than expected: {found}. What was "
        "fetched so far is kept; run the same command again to go on, later if the "
        "wiki is busy. If it never works, check that --api is the address of a "
        "MediaWiki API with the extension TextExtracts, as Wikipedia has it."
    )
    R343 = (
        "The articles fetched so far should be in {path}, but it isn't a cache of "
        "`refreader wikipedia`: {found}. Give --cache another file, or delete this one."
    )
    R344 = (
        "None of the {n} articles has any text at {api}, so nothing was written. Check "
        "that --api is the wiki that GAP's URLs name; its answers are in {cache}, "
        "delete it to ask again."
    )
    R345 = "Expected anaphors to be one of {known}, but found {found!r}."
    R350 = (
        "There is no pipeline '{name}' to parse with. Install one with `python -m "
        "spacy download en_core_web_sm`, or name one that you have by --parser."
    )
    R351 = (
        "A rule needs the grammar of the text, but the text that starts with {text!r} "
        "was not parsed. Give --parser a pipeline with a parser, such as "
        "en_core_web_sm."
    )
    R352 = (
        "{path} doesn't answer the same rows as the gold file has: only one of them "
        "has {found!r}. Give the GAP file that the system was run on."
    )
    R353 = (
        "There are no answers in {path}. Give a file that `refreader gap -o` wrote, or "
        "a folder of such .tsv files, one for each seed."
    )

    # Data of others
    R354 = (
        "{path}, line {line}: expected CoNLL-2012 columns, the fourth a word and the "
        "last its coreference, but found {found!r}. Give a CoNLL-2012 file."
    )
    R355 = (
        "{path}, line {line}: {found!r} in the last column begins or ends no mention "
        "of its document. Expected such as (3, 3), (3) or (3)|(5 with each mention "
        "ended where it began. Correct the line."
    )
    R358 = (
        "There are too few files for --part {part}: of ten, the first is for testing, "
        "the second for development, and the rest for training. Give more files, or "
        "leave it out."
    )
    R359 = (
        "Some documents are needed to train, some to choose the best model and some to "
        "test: expected at least 3, but found {found}. Give more, or make training "
        "files of your own with `refreader convert`."
    )

    # Corpora
    R400 = (
        "{path} can't be read from line {line} on as UTF-8 text: {found}. Check that "
        "the download is complete, or save the file again as UTF-8."
    )
    R401 = (
        "{path}, line {line}: expected the 10 columns of CoNLL-U, separated by tabs, "
        "but found {found}. Give a CoNLL-U file, or correct the line."
    )
    R402 = (
        "{path}, line {line}: expected the number of a word such as 8, 8-9 or 8.1 in "
        "the first column and the word in the second, but found {found!r}. Correct the "
        "line."
    )
    R403 = (
        "{path}, line {line}: expected mentions such as (e3-person-1, e3) or "
        "(e3-person-1) one after the other in Entity=, but found {found!r}. Correct "
        "the line."
    )
    R404 = (
        "{path}, line {line}: {found!r} begins or ends a mention that has no other "
        "end in the document. Correct Entity= there."
    )
    R405 = (
        "{path}, line {line}: expected entities such as e3<e9,e5<e9 in SplitAnte=, but "
        "found {found!r}. Correct the line."
    )
    R406 = (
        "{path}, line {line}: expected the number of a word of this sentence, or 0, as "
        "the head in the seventh column, but found {found!r}. Correct the line."
    )
    R407 = (
        "{path}, line {line}: expected numbers from 1 to {size} as the head of a "
        "mention of {size} words, but found {found!r}. Correct Entity= there."
    )
    R410 = (
        "{path}, line {line}: expected a JSON object with 'id', 'text' and 'clusters', "
        "each cluster a list of mentions and each mention [start, end, text] or a list "
        "of [start, end] in characters, but found {found}. Correct or remove the line."
    )
    R411 = (
        "{path}, line {line}: expected a JSON object with 'sentences', each a list of "
        "words, and 'clusters', each a list of mentions as first and last token, but "
        "found {found}. Correct or remove the line."
    )
    R412 = (
        "The name of {path} doesn't tell its format: expected one that ends in "
        "{known}. Rename it, or name its format by --format."
    )
    R413 = (
        "{path} should be a DocBin, as spaCy's .spacy files are, but it can't be read."
    )
    R414 = "There is no file or folder {path}. Check the path."
    R415 = (
        "There is no annotated text in {paths}: expected files that end in {known}. "
        "Check the path, or name the format by --format."
    )
    R416 = (
        "The document {id!r} has other words in {path} than in the file to convert, "
        "from word {number} on: expected {expected!r}, but found {found!r}. Give "
        "--ontonotes files of the same version."
    )
    R417 = (
        "There is no document for {path}: the files have none, or none that was asked "
        "for. Check --documents and --without-genre."
    )
    R418 = (
        "{path}, line {line}: expected a JSON object as Prodigy has it, with 'tokens', "
        "'spans' and 'relations', but found {found}. Correct or remove the line."
    )

    R419 = (
        "{path}, line {line}: {found}. A mention is written as [p1 the old man], where "
        "p1 is the same for all mentions of him: a letter for the type and a number. "
        "Correct the brackets there."
    )

    # Plain text and distillation
    R450 = (
        "{path} holds no text. Expected JSON lines with 'text' or 'sents', or text "
        "whose articles are separated by empty lines."
    )
    R451 = (
        "{path}, line {line}: expected a JSON object with 'text' (a string) or 'sents' "
        "(lists of words). Correct the line, or leave it out."
    )
    R452 = (
        "{folder} holds parts that another teacher, or other sources or settings made. "
        "Choose another folder with --output, or delete that one."
    )
    R453 = (
        "A process that labels text was stopped, perhaps for want of memory. What is "
        "labelled is kept: run the same command again, with a smaller --n-process."
    )


class Warnings(metaclass=ErrorsWithCodes):
    """Every warning, one code each."""

    R901 = (
        "Tokens were merged, and {n_dropped} mention(s) are parts of tokens, which no "
        "span can be: they were dropped. To keep them, leave out merge_noun_chunks or "
        "merge_entities, or read doc._.coref_clusters before tokens are merged."
    )
    R902 = (
        "The weights of '{name}' are for English, but the language of this pipeline is "
        "'{found}'. Its clusters will make little sense; train a model of your own "
        "with `spacy train`."
    )
    R903 = (
        "Tokens of several words were merged before '{name}', which reads vectors of "
        "another pipe and so can't read them word by word. Names in them are missed: "
        "put merge_entities or merge_noun_chunks after '{name}'."
    )
    R904 = (
        "Input files changed while they were read, so {output} may have parts of what "
        "was there before and after. Run the command anew to be sure."
    )
