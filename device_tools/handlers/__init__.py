"""What each tool of the screen does: a session and checked arguments in, a result out."""
