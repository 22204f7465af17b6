"""From noisy numbers to whole tables that add up, one method a module; all of it sees released numbers only."""
