"""The pages: server-rendered, live by server-sent events, readable without JavaScript."""
