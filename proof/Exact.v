(** Uniform lanes give uniform orders: Lanes.v and Orders.v together.

    B k is the number of lanes of a draw 1..k. Each order of m of n cards comes from the same number of lists of
    accepted lanes: the product of B k / k over the draws. Rejections before a draw do not change this, because they
    are independent of its value (Lanes.rejections_independent). *)

Require Import Arith List Bool Lia Lanes Orders.
Import ListNotations.

Section Exact.

Variable B : nat -> nat.

(** The ranges of the draws of m of n cards. *)
Fixpoint ranges (n m : nat) : list nat :=
  match m with
  | 0 => []
  | S m => n :: ranges (n - 1) m
  end.

(** All lists of lanes for these ranges. *)
Fixpoint all_lanes (ks : list nat) : list (list nat) :=
  match ks with
  | [] => [[]]
  | k :: ks => map (fun p => fst p :: snd p) (list_prod (seq 0 (B k)) (all_lanes ks))
  end.

Fixpoint all_accepted (ks xs : list nat) : bool :=
  match ks, xs with
  | [], [] => true
  | k :: ks, x :: xs => accepted (B k) k x && all_accepted ks xs
  | _, _ => false
  end.

Fixpoint values (ks xs : list nat) : list nat :=
  match ks, xs with
  | k :: ks, x :: xs => value k x :: values ks xs
  | _, _ => []
  end.

Definition product : list nat -> nat := fold_right (fun k p => B k / k * p) 1.

Fixpoint same (a b : list nat) : bool :=
  match a, b with
  | [], [] => true
  | x :: a, y :: b => (x =? y) && same a b
  | _, _ => false
  end.

Lemma same_eq : forall a b, same a b = true <-> a = b.
Proof.
  induction a as [|x a IH]; intros [|y b]; simpl; split; intros H; try discriminate; auto.
  - apply andb_true_iff in H. destruct H as [H1 H2]. apply Nat.eqb_eq in H1. apply IH in H2. congruence.
  - injection H as -> ->. rewrite Nat.eqb_refl. apply IH. reflexivity.
Qed.

(** Each list of draws comes from the same number of lists of accepted lanes. *)
Theorem draws_exact : forall m n ds, m <= n -> fit n ds -> length ds = m ->
  length (filter (fun xs => all_accepted (ranges n m) xs && same (values (ranges n m) xs) ds)
                 (all_lanes (ranges n m))) = product (ranges n m).
Proof.
  induction m as [|m IH]; intros n ds Hm F L.
  - destruct ds; [reflexivity|discriminate].
  - destruct ds as [|d ds]; [discriminate|]. injection L as L. simpl in F. destruct F as [Hd F].
    cbn [ranges all_lanes]. rewrite filter_map_len. cbn [all_accepted values same].
    rewrite (filter_ext _ (fun xy => (accepted (B n) n (fst xy) && (value n (fst xy) =? d))
      && (all_accepted (ranges (n - 1) m) (snd xy) && same (values (ranges (n - 1) m) (snd xy)) ds))).
    + rewrite (filter_prod_len _ _ (fun x => accepted (B n) n x && (value n x =? d))
        (fun xs => all_accepted (ranges (n - 1) m) xs && same (values (ranges (n - 1) m) xs) ds)).
      rewrite IH by (auto; lia). cbn [product fold_right]. f_equal. apply draw_uniform. assumption.
    + intros [x xs]. cbn [fst snd]. destruct (accepted (B n) n x), (value n x =? d),
        (all_accepted (ranges (n - 1) m) xs), (same (values (ranges (n - 1) m) xs) ds); reflexivity.
Qed.

Lemma values_fit : forall m n xs, m <= n -> all_accepted (ranges n m) xs = true ->
  fit n (values (ranges n m) xs) /\ length (values (ranges n m) xs) = m.
Proof.
  induction m as [|m IH]; intros n xs Hm H; [simpl; auto|].
  destruct xs as [|x xs]; [discriminate|]. cbn [ranges all_accepted values] in *.
  apply andb_true_iff in H. destruct H as [_ H]. destruct (IH (n - 1) xs) as [F L]; auto; [lia|].
  cbn [fit length]. repeat split; auto; apply draw_range || lia; lia.
Qed.

(** A result of exactly one list of draws comes from that many lists of accepted lanes. *)
Lemma one_list_of_draws : forall n m (f : list nat -> list nat) t, m <= n ->
  (exists! ds, fit n ds /\ length ds = m /\ f ds = t) ->
  length (filter (fun xs => all_accepted (ranges n m) xs && same (f (values (ranges n m) xs)) t)
                 (all_lanes (ranges n m))) = product (ranges n m).
Proof.
  intros n m f t Hm (ds & (F & L & E) & U).
  rewrite <- (draws_exact m n ds Hm F L). f_equal. apply filter_ext. intros xs.
  destruct (all_accepted (ranges n m) xs) eqn:A; [|reflexivity]. simpl.
  destruct (values_fit m n xs Hm A) as [Fx Lx].
  destruct (same (values (ranges n m) xs) ds) eqn:S.
  - apply same_eq in S. rewrite S. apply same_eq. assumption.
  - destruct (same (f (values (ranges n m) xs)) t) eqn:S2; [|reflexivity].
    apply same_eq in S2. assert (K : ds = values (ranges n m) xs) by (apply U; auto).
    rewrite <- K in S. assert (same ds ds = true) by (apply same_eq; reflexivity). congruence.
Qed.

(** Each order of m of n cards comes from the same number of lists of accepted lanes. *)
Theorem orders_exact : forall n m t, m <= n -> order n m t ->
  length (filter (fun xs => all_accepted (ranges n m) xs && same (shuffle n (values (ranges n m) xs)) t)
                 (all_lanes (ranges n m))) = product (ranges n m).
Proof.
  intros n m t Hm Ht. apply (one_list_of_draws n m (shuffle n)); auto. apply fisher_yates. assumption.
Qed.

(** The backward form gives each order of n cards from as many lists of accepted lanes as the forward form does. *)
Theorem backward_orders_exact : forall n t, order n n t ->
  length (filter (fun xs => all_accepted (ranges n n) xs && same (swaps_down (seq 0 n) n (values (ranges n n) xs)) t)
                 (all_lanes (ranges n n))) = product (ranges n n).
Proof.
  intros n t Ht. apply (one_list_of_draws n n (swaps_down (seq 0 n) n)); auto. apply both_forms. assumption.
Qed.

End Exact.
