"""The confirmation-stream transducer: a call executes once it is irrevocably confirmed."""
