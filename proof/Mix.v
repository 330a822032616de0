(** Mixes, cuts and a second party's order: docs/SPEC.md section 4.3.

    A uniform order stays uniform under a mix, a cut and another order: for each of them, exactly one order gives each
    result. The reverse also holds: a fixed order under a uniform permutation is uniform. The fixed values must not
    depend on the drawn ones; the order of entries in docs/SPEC.md ensures this. *)

Require Import Arith List Bool Lia Permutation Lanes Orders.
Import ListNotations.

(** Place i shows the value at position P[i]. *)
Definition through (a P : list nat) : list nat := map (fun i => nth i a 0) P.

(** After a cut c, place i shows position P[(i + c) mod m]. *)
Definition cut (P : list nat) (c : nat) : list nat :=
  map (fun i => nth ((i + c) mod length P) P 0) (seq 0 (length P)).

Lemma through_length : forall a P, length (through a P) = length P.
Proof.
  intros. apply map_length.
Qed.

Lemma through_order : forall n m a P, order n m a -> order m m P -> order n m (through a P).
Proof.
  intros n m a P (La & Na & Ia) (Lp & Np & Ip). repeat split.
  - rewrite through_length. assumption.
  - unfold through. clear Lp. induction Np as [|i P Hi Np IH]; simpl; constructor.
    + intros H. apply in_map_iff in H. destruct H as (j & E & Hj). apply Hi.
      assert (i = j); [|subst; assumption].
      apply (proj1 (NoDup_nth a 0) Na); [rewrite La; apply Ip; left; reflexivity| |symmetry; assumption].
      rewrite La. apply Ip. right. assumption.
    + apply IH. intros x Hx. apply Ip. right. assumption.
  - intros x Hx. apply in_map_iff in Hx. destruct Hx as (i & <- & Hi). apply Ia, nth_In. rewrite La. auto.
Qed.

(** The permutation that undoes P: the index at which P has i. *)
Fixpoint find (x : nat) (l : list nat) : nat :=
  match l with
  | [] => 0
  | y :: l => if x =? y then 0 else S (find x l)
  end.

Lemma find_nth : forall x l, In x l -> find x l < length l /\ nth (find x l) l 0 = x.
Proof.
  induction l as [|y l IH]; intros H; [destruct H|]. simpl. destruct (Nat.eqb_spec x y); [split; auto; lia|].
  destruct H as [<-|H]; [congruence|]. destruct (IH H). split; auto. lia.
Qed.

Lemma nth_find : forall i l, NoDup l -> i < length l -> find (nth i l 0) l = i.
Proof.
  intros i l N H. destruct (find_nth (nth i l 0) l) as (F & E); [apply nth_In; assumption|].
  apply (proj1 (NoDup_nth l 0) N); assumption.
Qed.

(** An order of m of m has every number below m. *)
Lemma order_all : forall m P x, order m m P -> x < m -> In x P.
Proof.
  intros m P x (L & N & I) H.
  apply (NoDup_length_incl N (l' := seq 0 m)).
  - rewrite seq_length. lia.
  - intros y Hy. apply in_seq. specialize (I y Hy). lia.
  - apply in_seq. lia.
Qed.

Lemma nth_map : forall f (l : list nat) i, i < length l -> nth i (map f l) 0 = f (nth i l 0).
Proof.
  intros f l i H. rewrite nth_indep with (d' := f 0) by (rewrite map_length; assumption). apply map_nth.
Qed.

Lemma nth_through : forall a P i, i < length P -> nth i (through a P) 0 = nth (nth i P 0) a 0.
Proof.
  intros. unfold through. rewrite nth_map by assumption. reflexivity.
Qed.

(** The inverse of P has at p the index at which P has p. *)
Definition inverse (P : list nat) : list nat := map (fun p => find p P) (seq 0 (length P)).

Lemma nth_inverse : forall P p, p < length P -> nth p (inverse P) 0 = find p P.
Proof.
  intros P p H. unfold inverse. rewrite nth_map by (rewrite seq_length; assumption).
  rewrite seq_nth by assumption. reflexivity.
Qed.

Lemma inverse_length : forall P, length (inverse P) = length P.
Proof.
  intros. unfold inverse. rewrite map_length. apply seq_length.
Qed.

Lemma inverse_order : forall m P, order m m P -> order m m (inverse P).
Proof.
  intros m P HP. pose proof HP as (L & N & I). repeat split.
  - rewrite inverse_length. assumption.
  - apply NoDup_nth with (d := 0). rewrite inverse_length. intros i j Hi Hj E.
    rewrite !nth_inverse in E by assumption.
    destruct (find_nth i P) as (_ & Ei); [apply (order_all m); auto; lia|].
    destruct (find_nth j P) as (_ & Ej); [apply (order_all m); auto; lia|]. congruence.
  - intros x Hx. apply in_map_iff in Hx. destruct Hx as (p & <- & Hp). apply in_seq in Hp.
    destruct (find_nth p P) as (F & _); [apply (order_all m); auto; lia|]. lia.
Qed.

(** ** A uniform order stays uniform under a mix that is fixed *)

Theorem mix_keeps : forall n m P r, order m m P -> order n m r -> exists! a, order n m a /\ through a P = r.
Proof.
  intros n m P r HP Hr. pose proof HP as (Lp & Np & Ip). pose proof Hr as (Lr & Nr & Ir).
  exists (through r (inverse P)). split.
  - split; [apply (through_order n m); auto; apply inverse_order; assumption|].
    apply nth_ext with (d := 0) (d' := 0); rewrite through_length; [lia|]. intros i Hi.
    assert (Hb : nth i P 0 < length P) by (rewrite Lp; apply Ip, nth_In; assumption).
    rewrite nth_through, nth_through by (rewrite ?inverse_length; assumption).
    rewrite nth_inverse, nth_find by assumption. reflexivity.
  - intros a (Ha & E). subst r. pose proof Ha as (La & Na & Ia).
    apply nth_ext with (d := 0) (d' := 0); rewrite through_length, inverse_length; [lia|]. intros p Hp.
    destruct (find_nth p P) as (F & G); [apply (order_all m); auto; lia|].
    rewrite nth_through by (rewrite inverse_length; lia). rewrite nth_inverse by lia.
    rewrite nth_through by assumption. rewrite G. reflexivity.
Qed.

(** ** A fixed order under a uniform permutation is uniform, if all cards are taken *)

Theorem permutation_keeps : forall m a r, order m m a -> order m m r -> exists! P, order m m P /\ through a P = r.
Proof.
  intros m a r Ha Hr. pose proof Ha as (La & Na & Ia). pose proof Hr as (Lr & Nr & Ir).
  exists (map (fun x => find x a) r). split.
  - split; [repeat split|].
    + rewrite map_length. assumption.
    + apply NoDup_nth with (d := 0). rewrite map_length. intros i j Hi Hj E.
      rewrite !nth_map in E by assumption.
      destruct (find_nth (nth i r 0) a) as (_ & Ei); [apply (order_all m); auto; apply Ir, nth_In; assumption|].
      destruct (find_nth (nth j r 0) a) as (_ & Ej); [apply (order_all m); auto; apply Ir, nth_In; assumption|].
      apply (proj1 (NoDup_nth r 0) Nr); auto. congruence.
    + intros x Hx. apply in_map_iff in Hx. destruct Hx as (y & <- & Hy).
      destruct (find_nth y a) as (F & _); [apply (order_all m); auto|]. lia.
    + apply nth_ext with (d := 0) (d' := 0); rewrite through_length, map_length; [reflexivity|]. intros i Hi.
      rewrite nth_through by (rewrite map_length; assumption). rewrite nth_map by assumption.
      destruct (find_nth (nth i r 0) a) as (_ & E); [apply (order_all m); auto; apply Ir, nth_In; assumption|].
      assumption.
  - intros P (HP & E). subst r. pose proof HP as (Lp & Np & Ip).
    apply nth_ext with (d := 0) (d' := 0); rewrite map_length, through_length; [reflexivity|]. intros i Hi.
    rewrite nth_map by (rewrite through_length; assumption). rewrite nth_through by assumption.
    apply nth_find; auto. rewrite La. apply Ip, nth_In. assumption.
Qed.

(** ** Cuts *)

Lemma cut_is : forall P c, cut P c = through P (map (fun i => (i + c) mod length P) (seq 0 (length P))).
Proof.
  intros. unfold cut, through. rewrite map_map. reflexivity.
Qed.

Lemma rotation_order : forall m c, c < m -> order m m (map (fun i => (i + c) mod m) (seq 0 m)).
Proof.
  intros m c Hc. repeat split.
  - rewrite map_length. apply seq_length.
  - apply NoDup_nth with (d := 0). rewrite map_length, seq_length. intros i j Hi Hj E.
    rewrite !nth_map in E by (rewrite seq_length; assumption). rewrite !seq_nth in E by assumption. simpl in E.
    assert (K : forall i, i < m -> (i + c) mod m = if i + c <? m then i + c else i + c - m).
    { intros k Hk. destruct (Nat.ltb_spec (k + c) m); [apply Nat.mod_small; assumption|].
      symmetry. apply Nat.mod_unique with (q := 1); lia. }
    rewrite !K in E by assumption.
    destruct (Nat.ltb_spec (i + c) m); destruct (Nat.ltb_spec (j + c) m); lia.
  - intros x Hx. apply in_map_iff in Hx. destruct Hx as (i & <- & _). apply Nat.mod_upper_bound. lia.
Qed.

Theorem cut_order : forall m P c, order m m P -> c < m -> order m m (cut P c).
Proof.
  intros m P c HP Hc. pose proof HP as (L & _). rewrite cut_is, L. apply (through_order m m); auto.
  apply rotation_order. assumption.
Qed.

(** ** Two parties: place i shows a[P[(b[i] + c) mod m]] *)

Definition two_parties (a P : list nat) (c : nat) (b : list nat) : list nat := through a (through (cut P c) b).

(** The house's order is uniform, and the mix, the cut and the other party's order are arbitrary. *)
Theorem house_honest : forall m P c b r, order m m P -> c < m -> order m m b -> order m m r ->
  exists! a, order m m a /\ two_parties a P c b = r.
Proof.
  intros. apply mix_keeps; auto. apply (through_order m m); auto. apply cut_order; assumption.
Qed.

(** The other party's order is uniform, and the house's order, the mix and the cut are arbitrary. *)
Theorem co_dealer_honest : forall m a P c r, order m m a -> order m m P -> c < m -> order m m r ->
  exists! b, order m m b /\ two_parties a P c b = r.
Proof.
  intros m a P c r Ha HP Hc Hr. unfold two_parties.
  destruct (permutation_keeps m a r Ha Hr) as (Q & (HQ & EQ) & UQ).
  destruct (permutation_keeps m (cut P c) Q (cut_order m P c HP Hc) HQ) as (b & (Hb & Eb) & Ub).
  exists b. split.
  - split; auto. rewrite Eb. assumption.
  - intros b' (Hb' & E). apply Ub. split; auto. symmetry. apply UQ. split; auto.
    apply (through_order m m); auto. apply cut_order; assumption.
Qed.

(** ** Draws: 1 + (v − 1 + u − 1) mod k, of a mix or of another party *)

Definition shift (k v u : nat) : nat := 1 + (v - 1 + (u - 1)) mod k.

Theorem draws_keep : forall k u r, 1 <= u <= k -> 1 <= r <= k -> exists! v, 1 <= v <= k /\ shift k v u = r.
Proof.
  intros k u r Hu Hr. unfold shift.
  assert (K : forall v, 1 <= v <= k -> (v - 1 + (u - 1)) mod k
    = if v + u - 2 <? k then v + u - 2 else v + u - 2 - k).
  { intros v Hv. destruct (Nat.ltb_spec (v + u - 2) k).
    - rewrite Nat.mod_small; lia.
    - symmetry. apply Nat.mod_unique with (q := 1); lia. }
  exists (if u <=? r then r - u + 1 else r + k - u + 1). split.
  - destruct (Nat.leb_spec u r); (split; [lia|]); rewrite K by lia.
    + destruct (Nat.ltb_spec (r - u + 1 + u - 2) k); lia.
    + destruct (Nat.ltb_spec (r + k - u + 1 + u - 2) k); lia.
  - intros v (Hv & E). rewrite K in E by assumption.
    destruct (Nat.ltb_spec (v + u - 2) k); destruct (Nat.leb_spec u r); lia.
Qed.
