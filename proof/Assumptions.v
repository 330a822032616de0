(** The theorems rest only on Coq's logic. scripts/proof.sh fails unless Coq says of each of them "Closed under the
    global context", and if a theorem of the files is not here. *)

Require Import Lanes Orders Exact Sparse Mix Legal Tape RunOut.

Print Assumptions Lanes.draw_uniform.
Print Assumptions Lanes.draw_range.
Print Assumptions Lanes.few_rejected.
Print Assumptions Lanes.rejections_independent.
Print Assumptions Orders.shuffle_picks.
Print Assumptions Orders.fisher_yates.
Print Assumptions Orders.fisher_yates_sound.
Print Assumptions Orders.backward_exact.
Print Assumptions Orders.backward_swaps.
Print Assumptions Orders.both_forms.
Print Assumptions Exact.draws_exact.
Print Assumptions Exact.orders_exact.
Print Assumptions Exact.backward_orders_exact.
Print Assumptions Sparse.sparse_dense.
Print Assumptions Mix.mix_keeps.
Print Assumptions Mix.permutation_keeps.
Print Assumptions Mix.cut_order.
Print Assumptions Mix.house_honest.
Print Assumptions Mix.co_dealer_honest.
Print Assumptions Mix.draws_keep.
Print Assumptions Legal.closed_for_ever.
Print Assumptions Legal.no_entry_after_close.
Print Assumptions Legal.place_dealt_once.
Print Assumptions Legal.sound_for_ever.
Print Assumptions Legal.no_serial_gap.
Print Assumptions Tape.draw_spec.
Print Assumptions Tape.cards_order.
Print Assumptions RunOut.tapes_uniform.
Print Assumptions RunOut.cards_uniform.
Print Assumptions RunOut.chernoff.
Print Assumptions RunOut.run_out.
