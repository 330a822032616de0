(** Numbers m of n: docs/SPEC.md section 2.5.

    The recipe of Orders.v on an array that stores only what differs from its index gives the same list. *)

Require Import Arith List Bool Lia Lanes Orders.
Import ListNotations.

(** A sparse array gives the stored value of an index, or else the index itself. The newest entry of an index counts. *)
Fixpoint get (a : list (nat * nat)) (i : nat) : nat :=
  match a with
  | [] => i
  | (j, x) :: rest => if i =? j then x else get rest i
  end.

Fixpoint sparse (a : list (nat * nat)) (i : nat) (draws : list nat) : list nat :=
  match draws with
  | [] => []
  | d :: ds => let j := i + d - 1 in get a j :: sparse ((j, get a i) :: (i, get a j) :: a) (S i) ds
  end.

(** The numbers as section 2.5 counts them begin at 1. *)
Definition numbers (draws : list nat) : list nat := map S (sparse [] 0 draws).

Lemma nth_set : forall a i x k, i < length a -> nth k (set a i x) 0 = if k =? i then x else nth k a 0.
Proof.
  intros a i x k H. revert i k H. induction a as [|y a IH]; intros i k H; simpl in H; [lia|].
  destruct i as [|i]; destruct k as [|k]; try reflexivity.
  unfold set in *. cbn [firstn skipn app nth]. rewrite IH by lia. reflexivity.
Qed.

(** What a sparse array stands for. *)
Definition stands (s : list (nat * nat)) (a : list nat) : Prop := forall k, k < length a -> get s k = nth k a 0.

Lemma stands_swap : forall s a i j, stands s a -> i <= j -> j < length a ->
  stands ((j, get s i) :: (i, get s j) :: s) (swap a i j).
Proof.
  intros s a i j H Hi Hj k Hk. rewrite swap_length in Hk by lia. cbn [get].
  unfold swap. rewrite nth_set by (rewrite set_length; lia). rewrite nth_set by lia.
  destruct (k =? j); [apply H; lia|]. destruct (k =? i); apply H; lia.
Qed.

Lemma swaps_keeps : forall ds a i k, k < i -> i + length ds <= length a -> fit (length a - i) ds ->
  nth k (swaps a i ds) 0 = nth k a 0.
Proof.
  induction ds as [|d ds IH]; intros a i k Hk Hl F; simpl in *; [reflexivity|]. destruct F as [Hd F].
  rewrite IH; rewrite ?swap_length; try lia.
  - unfold swap. rewrite nth_set by (rewrite set_length; lia). rewrite nth_set by lia.
    destruct (Nat.eqb_spec k (i + d - 1)); [lia|]. destruct (Nat.eqb_spec k i); [lia|]. reflexivity.
  - replace (length a - S i) with (length a - i - 1) by lia. assumption.
Qed.

Lemma swaps_length : forall ds a i, i + length ds <= length a -> fit (length a - i) ds ->
  length (swaps a i ds) = length a.
Proof.
  induction ds as [|d ds IH]; intros a i Hl F; simpl in *; [reflexivity|]. destruct F as [Hd F].
  rewrite IH; rewrite ?swap_length; try lia.
  replace (length a - S i) with (length a - i - 1) by lia. assumption.
Qed.

Lemma skipn_nth : forall (a : list nat) i, i < length a -> skipn i a = nth i a 0 :: skipn (S i) a.
Proof.
  induction a as [|y a IH]; intros i Hi; simpl in Hi; [lia|]. destruct i; [reflexivity|].
  cbn [skipn nth]. apply IH. lia.
Qed.

Lemma sparse_swaps : forall ds s a i, stands s a -> i + length ds <= length a -> fit (length a - i) ds ->
  sparse s i ds = firstn (length ds) (skipn i (swaps a i ds)).
Proof.
  induction ds as [|d ds IH]; intros s a i H Hl F; [reflexivity|].
  cbn [fit length] in F, Hl. destruct F as [Hd F].
  cbn [sparse swaps length].
  assert (Hs : i < length (swap a i (i + d - 1))) by (rewrite swap_length; lia).
  assert (F' : fit (length (swap a i (i + d - 1)) - S i) ds).
  { rewrite swap_length by lia. replace (length a - S i) with (length a - i - 1) by lia. assumption. }
  assert (Hl' : S i + length ds <= length (swap a i (i + d - 1))) by (rewrite swap_length; lia).
  rewrite (IH _ (swap a i (i + d - 1))); auto; [|apply stands_swap; auto; lia].
  set (b := swaps (swap a i (i + d - 1)) (S i) ds).
  assert (Lb : length b = length a).
  { unfold b. rewrite swaps_length by assumption. apply swap_length; lia. }
  rewrite (skipn_nth b i) by lia. cbn [firstn]. f_equal.
  unfold b. rewrite swaps_keeps by (auto; lia).
  unfold swap. rewrite nth_set by (rewrite set_length; lia). rewrite nth_set by lia.
  destruct (Nat.eqb_spec i (i + d - 1)) as [J|J].
  - rewrite <- J. apply H. lia.
  - rewrite Nat.eqb_refl. apply H. lia.
Qed.

Lemma fit_length : forall ds n, fit n ds -> length ds <= n.
Proof.
  induction ds as [|d ds IH]; intros n F; simpl in *; [lia|]. destruct F as [Hd F]. apply IH in F. lia.
Qed.

(** The sparse array gives the very list that the array of n numbers gives. *)
Theorem sparse_dense : forall n ds, fit n ds -> sparse [] 0 ds = shuffle n ds.
Proof.
  intros n ds F. unfold shuffle.
  rewrite (sparse_swaps ds [] (seq 0 n) 0); rewrite ?seq_length; rewrite ?Nat.sub_0_r; auto.
  - intros k Hk. rewrite seq_length in Hk. cbn [get]. rewrite seq_nth by assumption. reflexivity.
  - simpl. apply fit_length. assumption.
Qed.
