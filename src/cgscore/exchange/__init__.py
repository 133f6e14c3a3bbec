"""Suspects for the tools where labels live, and corrections back: `export` and `import`.

=================  ============================================================================
module             content
=================  ============================================================================
`tool`             the contract: what a tool writes and reads
`registry`         the tools by name, and which of them wrote a file
`examples`         what is exported: examples with suggestion, score and reason
`captions`         one distinct line of text for every class, and back
`stamp`            the text by which an export is recognised when it comes back
`documents`        JSON files, read within the memory there is
`pictures`         where the pictures of examples are, or copies of them
`corrections`      what came back, checked against the result
`renewal`          corrections in the log of the review, and new scores
=================  ============================================================================

Every other module is one tool (`hugging_face_card` belongs to `hugging_face`). A new one is a
module and a line in `registry`.
"""
