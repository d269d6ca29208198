//! A scripted model that speaks the OpenAI and Anthropic streaming APIs on loopback.
